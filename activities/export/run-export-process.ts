import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Exported, ExportJob, ExportMessage, ExportProgress } from './export-job.ts';
import { errorFrom } from './failure-message.ts';

/** The export process ended without a message: it was killed, or crashed. */
class ExportProcessLost extends Error {
  override readonly name = 'ExportProcessLost';
  readonly handling = 'retry';

  constructor(how: string) {
    super(`The export process ended with ${how}. Nothing was published; it will be retried.`);
  }
}

/** Runs the export in a process of its own, and kills it when `signal` is aborted. Throws the errors of the process. */
export async function runExportProcess(
  job: ExportJob,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: ExportProgress) => void },
): Promise<Exported> {
  const child = startProcess();
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', kill);
  try {
    return await sendJobAndWait(child, job, onProgress);
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

/** In a checkout the process runs TypeScript, which a loader compiles; in the packed product it runs the JavaScript beside this file. */
function startProcess(): ChildProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const main = fileURLToPath(new URL(`./export-process.${extension}`, import.meta.url));
  const loader = new URL('../../scripts/load-typescript.mjs', import.meta.url).href;
  return fork(main, {
    execArgv: extension === 'ts' ? ['--import', loader] : [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // With an arena for each thread the C library would keep the most memory that each of them has used.
    env: { ...forBuckets(process.env), MALLOC_ARENA_MAX: '2' },
  });
}

/** Keeps the variables with which the AWS SDK reaches buckets; the job holds everything else. */
function forBuckets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(DAYBOOK_|TEMPORAL_|DATABASE_URL$)/.test(name)),
  );
}

function sendJobAndWait(
  child: ChildProcess,
  job: ExportJob,
  onProgress: (progress: ExportProgress) => void,
): Promise<Exported> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: ExportMessage) => {
      if ('progress' in message) onProgress(message.progress);
      else if ('exported' in message) resolve(message.exported);
      else reject(errorFrom(message.failed));
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(new ExportProcessLost(signal ?? `exit code ${String(code)}`));
    });
    // A child that could not be started emits an event of its own.
    child.send(job, () => undefined);
  });
}
