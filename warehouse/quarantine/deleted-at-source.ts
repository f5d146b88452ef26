/** Why an entry was closed whose record is gone. Another reason is a person's, or that something better is held. */
export const deletedAtSource = 'the record was deleted at the source';
