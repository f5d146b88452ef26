/** The reason for closing an entry whose record is gone. Any other reason is a person's, or says that something better is held. */
export const deletedAtSource = 'the record was deleted at the source';
