/** Reads the current key (32 bytes) that seals access tokens: each time, because another process may rotate it. */
export type SecretKey = () => Promise<Buffer>;
