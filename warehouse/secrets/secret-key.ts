/** The key (32 bytes) that seals access tokens, as it is now: read each time, since another process may rotate it. */
export type SecretKey = () => Promise<Buffer>;
