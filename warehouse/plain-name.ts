/** The names allowed for a connection or a reader: lowercase letters, digits and hyphens, at most 63. */
export const plainName = /^[a-z0-9][a-z0-9-]{0,62}$/;
