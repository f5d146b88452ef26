import type { VNode } from 'preact';
import * as z from 'zod';
import type { RunStreamRead } from '../../../warehouse/runs/read-run.ts';
import { DataTable } from './data-table.tsx';
import { Pill } from './pill.tsx';

const side = z.record(z.string(), z.record(z.string(), z.string()));
const totals = z.object({ source: side, warehouse: side, currencies: z.number().optional() });

interface Line {
  stream: string;
  currency: string;
  measure: string;
  source: string;
  warehouse: string;
}

/** The totals that a reconcile computed on both sides, with every digit. */
export function TotalsTable({ streams }: { streams: readonly RunStreamRead[] }): VNode | null {
  const lines = streams.flatMap(linesOf);
  if (lines.length === 0) return null;
  return (
    <>
      <h2>Source and warehouse compared</h2>
      <DataTable
        caption="Counts and sums of source and warehouse"
        columns={[
          { head: 'Stream', kind: 'name', cell: ({ stream }) => stream },
          { head: 'Currency', cell: ({ currency }) => (currency === 'none' ? '' : currency) },
          { head: 'Measure', cell: ({ measure }) => measure },
          { head: 'Source', kind: 'number', cell: ({ source }) => source },
          { head: 'Warehouse', kind: 'number', cell: ({ warehouse }) => warehouse },
          {
            head: 'Equal',
            cell: (line) => <Pill state={line.source === line.warehouse ? equal : different} />,
          },
        ]}
        rows={lines}
        keyOf={({ stream, currency, measure }) => `total-${stream}-${currency}-${measure}`}
        empty=""
      />
      {streams.map(leftOutOf).map((sentence) => sentence !== undefined && <p key={sentence}>{sentence}</p>)}
    </>
  );
}

const equal = { tone: 'good', icon: 'check', words: 'equal' } as const;
const different = { tone: 'bad', icon: 'cross', words: 'different' } as const;

function linesOf({ stream, totals: stored }: RunStreamRead): Line[] {
  const parsed = totals.safeParse(stored);
  if (!parsed.success) return [];
  const { source, warehouse } = parsed.data;
  const currencies = [...new Set([...Object.keys(source), ...Object.keys(warehouse)])];
  return currencies.flatMap((currency) => {
    const measures = Object.keys({ ...source[currency], ...warehouse[currency] });
    return inOrder(measures).map((measure) => ({
      stream,
      currency,
      measure,
      source: source[currency]?.[measure] ?? '0',
      warehouse: warehouse[currency]?.[measure] ?? '0',
    }));
  });
}

/** The sentence for a stream that has more currencies than are shown. */
function leftOutOf({ stream, totals: stored }: RunStreamRead): string | undefined {
  const { data } = totals.safeParse(stored);
  if (data?.currencies === undefined) return undefined;
  const told = new Set([...Object.keys(data.source), ...Object.keys(data.warehouse)]).size;
  return `Of the ${data.currencies} currencies of ${stream}, ${told} are shown: those that differ come first.`;
}

/** Puts the record count before the sums. */
function inOrder(measures: readonly string[]): string[] {
  return [...measures.filter((name) => name === 'records'), ...measures.filter((name) => name !== 'records')];
}
