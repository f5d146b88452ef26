import { resolve } from 'node:path';
import { Command } from 'commander';
import { print, printJson } from '../printer.ts';
import { writeOutFile } from '../write-out-file.ts';
import { withWarehouse } from '../with-warehouse.ts';

export function dashboardCommand(): Command {
  return new Command('dashboard')
    .description('Write the dashboard to one self-contained HTML file.')
    .requiredOption('--out <file>', 'the file to write')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ npx daybook dashboard --out dashboard.html')
    .action(async ({ out, json }: { out: string; json?: true }) => {
      const { dashboardFile } = await import('../../server/dashboard/dashboard-file.tsx');
      const { readDashboard } = await import('../../server/dashboard/read-dashboard.ts');
      const { dataAsOf, notesOf } = await import('../../server/dashboard/views/headline.tsx');
      const dashboard = await withWarehouse((warehouse) => readDashboard(warehouse));
      const html = dashboardFile(dashboard);
      const path = resolve(out);
      await writeOutFile(path, html);
      const bytes = Buffer.byteLength(html);
      // After a page on stdout, nothing else may follow.
      if (path === '/dev/stdout') return;
      if (json === true)
        printJson({ path, bytes, as_of_date: dashboard.asOf, built_at: dashboard.build.built_at });
      else {
        const size = `${(bytes / 1e6).toFixed(1)} MB`;
        print(`Wrote ${path} (${size}): data as of ${dataAsOf(dashboard)}, marts of ${dashboard.asOf}.`);
        for (const note of notesOf(dashboard)) print(note);
      }
    });
}
