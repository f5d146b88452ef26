import { startSandboxProcess } from '../../embedded/sandbox.ts';
import { runExportProcess } from '../../activities/export/run-export-process.ts';
import type { ExportJob } from '../../activities/export/export-job.ts';

/** Starts the programs that Daybook runs as child processes, in the working folder, and keeps its files in argv[2]. */
const [, , folder = ''] = process.argv;

try {
  const sandbox = await startSandboxProcess({
    port: 0,
    adminPort: 0,
    records: 100,
    clientId: 'client',
    clientSecret: 'secret',
    webhooks: { addresses: [] },
    journal: `${folder}/journal.jsonl`,
    logFile: `${folder}/sandbox.log`,
  });
  await sandbox.stop();
  process.stdout.write('The sandbox started.\n');
} catch (error) {
  process.stdout.write(`The sandbox: ${String(error)}\n`);
}
// Nothing listens at this address. The process has loaded everything when it reports that.
const job = {
  databaseUrl: 'postgres://daybook@127.0.0.1:9/daybook',
  scratch: `${folder}/scratch`,
  lake: folder,
};
try {
  const signal = new AbortController().signal;
  await runExportProcess(job as ExportJob, { signal, onProgress: () => undefined });
} catch (error) {
  process.stdout.write(`The export: ${String(error)}\n`);
}
