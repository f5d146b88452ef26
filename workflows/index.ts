/** Every workflow that a worker runs; the bundle starts here. */
export { syncConnection } from './sync-connection.ts';
