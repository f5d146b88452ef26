/** A snapshot leaves out a connection that is being removed, instead of holding the part of it that is left at that moment. */
export const notGoing = `connection_id not in (select connection_id from sync.all_connections where removing_at is not null)`;
