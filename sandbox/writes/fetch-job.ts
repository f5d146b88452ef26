import { ApiError } from '../api/api-error.ts';
import type { DataRequest } from '../api/data-request.ts';
import type { Connection } from '../world/connection.ts';
import { renderJob } from './job-book.ts';
import type { JobBook } from './job-book.ts';

/**
 * Returns the job of an asynchronous write (4.7), finished or not.
 *
 * @throws ApiError 410 if there is no such job, or it belongs to another connection than the requested one.
 */
export function fetchJob(jobs: JobBook, { connection }: DataRequest<Connection | null>, id: string): string {
  const job = jobs.get(id);
  if (job === null || (connection !== null && connection.name !== job.connection))
    throw new ApiError(410, 'NOT_FOUND', 'There is no job with this ID.');
  return renderJob(job);
}
