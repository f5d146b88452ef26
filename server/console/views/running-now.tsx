import type { VNode } from 'preact';
import type { RunRead } from '../../../warehouse/runs/read-run.ts';
import { runNames } from '../../../operations/run-names.ts';
import type { Settings } from '../../../config/settings.ts';
import { lengthOf } from '../../frame/moment.tsx';
import { paths } from '../../frame/paths.ts';
import { Pill } from './pill.tsx';
import { millisecondsOf, sumOf } from './run-table.tsx';
import { runStates } from './states.ts';
import { WorkflowLink } from './workflow-link.tsx';

/** The runs in progress, and how far each is. */
export function RunningNow({
  runs,
  now,
  settings,
}: {
  runs: readonly RunRead[];
  now: Date;
  settings: Pick<Settings, 'temporal'>;
}): VNode | null {
  if (runs.length === 0) return null;
  return (
    <section aria-label="Running now" class="running">
      {runs.map((run) => (
        <article key={run.run_id} id={`running-${run.run_id}`}>
          <p class="running-head">
            <Pill state={runStates.running} />
            <a href={paths.run(run.run_id)}>{runNames[run.kind]}</a>
            <span>{progressOf(run, now)}</span>
            <WorkflowLink run={run} settings={settings} />
          </p>
          <ul>
            {run.streams.map(({ stream, status, read }) => (
              <li key={stream} id={`progress-${stream}-${run.run_id}`}>
                <span class={`dot dot-${runStates[status].tone}`} />
                {stream} <b>{read.toLocaleString('en-US')}</b>
                <span class="unseen">{runStates[status].words}</span>
              </li>
            ))}
          </ul>
        </article>
      ))}
    </section>
  );
}

function progressOf(run: RunRead, now: Date): string {
  const milliseconds = millisecondsOf(run, now);
  const read = sumOf(run, 'read');
  const rate = Math.round((read * 1_000) / Math.max(milliseconds, 1));
  return `for ${lengthOf(milliseconds)}: ${read.toLocaleString('en-US')} records, ${rate.toLocaleString('en-US')} a second`;
}
