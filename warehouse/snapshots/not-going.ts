/** Of a connection that is being removed a snapshot holds nothing, rather than what is left at its moment. */
export const notGoing = `connection_id not in (select connection_id from sync.all_connections where removing_at is not null)`;
