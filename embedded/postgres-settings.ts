import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';

/**
 * How the embedded Postgres runs: tuned for one user who loads much and reads large. Everything that makes a commit
 * durable (fsync, synchronous_commit, full_page_writes) stays at its default, on.
 */
export const postgresSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // No socket, which nobody else could take: its path may be at most 107 bytes long, and homes are longer; and BI tools, to whom
  // `daybook url` gives an address, reach a port only. So clients require a proof of the server instead (`requiringScram`).
  unix_socket_directories: '',
  // Whoever is on this machine can take all connections without a password, each until this time is over, by default a minute. A login
  // itself takes milliseconds.
  authentication_timeout: '10s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  shared_buffers: `${sharedBuffersMegabytes()}MB`,
  effective_cache_size: '1GB',
  work_mem: '32MB',
  maintenance_work_mem: '128MB',
  // An initial sync writes gigabytes of WAL in minutes; with the default 1GB it would checkpoint all the time.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  // Compiling a landing statement takes longer than running it.
  jit: 'off',
  // 64 MB: everybody who may log in can fill the queue, by default with 8 GB, and Daybook sends nothing by it.
  max_notify_queue_pages: '8192',
};

/**
 * What one session may have in temporary files, as `temp_file_limit` has it: a quarter of the disk that is free when Postgres starts. A
 * statement that goes wrong, or a record that was made to have it go wrong, then fails while there is still room for what is synced. An
 * index over the largest tables of a warehouse needs less than a quarter of what they take themselves.
 */
export async function temporaryFileLimit(dataDir: string): Promise<string> {
  const { bavail, bsize } = await statfs(dataDir);
  return `${Math.max(1024, Math.round((bavail * bsize) / 4 / 1024 ** 2))}MB`;
}

/**
 * A sixteenth of the machine, between 128 MB and 1 GB. The keys of records are random, so every page of an initial sync touches
 * places all over the indexes; where they do not fit, pages become slower as the tables grow.
 */
function sharedBuffersMegabytes(): number {
  return Math.round(Math.min(Math.max(totalmem() / 16 / 1024 ** 2, 128), 1024));
}
