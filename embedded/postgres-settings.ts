import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';

/**
 * The settings of the embedded Postgres, tuned for one user with large loads and large reads. The settings that make a commit
 * durable (fsync, synchronous_commit, full_page_writes) keep their default, on.
 */
export const postgresSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // No Unix socket. A socket is safe from takeover by others, but its path is limited to 107 bytes, and homes can be longer; and BI tools, which
  // use the address of `daybook url`, connect only to ports. So clients require a proof of the server instead (`requiringScram`).
  unix_socket_directories: '',
  // Anybody on this machine can occupy all connections without a password until this timeout, by default a minute. A login itself takes
  // milliseconds.
  authentication_timeout: '10s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  shared_buffers: `${sharedBuffersMegabytes()}MB`,
  effective_cache_size: '1GB',
  work_mem: '32MB',
  maintenance_work_mem: '128MB',
  // An initial sync writes gigabytes of WAL in minutes; with the default of 1GB it would checkpoint constantly.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  // Compiling a landing statement takes longer than running it.
  jit: 'off',
  // 64 MB: everybody who may log in can fill the queue, which is 8 GB by default, and Daybook sends nothing through it.
  max_notify_queue_pages: '8192',
};

/**
 * Returns the `temp_file_limit` of a session: a quarter of the free disk when Postgres starts. A runaway statement, or a record made
 * to cause one, then fails while there is still room for synced data. An index over the largest tables of a warehouse needs less than a
 * quarter of their own size.
 */
export async function temporaryFileLimit(dataDir: string): Promise<string> {
  const { bavail, bsize } = await statfs(dataDir);
  return `${Math.max(1024, Math.round((bavail * bsize) / 4 / 1024 ** 2))}MB`;
}

/**
 * A sixteenth of the machine's memory, between 128 MB and 1 GB. The keys of records are random, so every page of an initial sync touches
 * all parts of the indexes; if these do not fit into memory, pages become slower as the tables grow.
 */
function sharedBuffersMegabytes(): number {
  return Math.round(Math.min(Math.max(totalmem() / 16 / 1024 ** 2, 128), 1024));
}
