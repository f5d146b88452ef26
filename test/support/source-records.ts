import type { FindHeld, SourceRecord } from '../../resources/source-record.ts';
import { answerLimits } from '../../source/answer-limits.ts';
import { parseListPage } from '../../source/responses.ts';

/** Parses a list response of these records with the code that reads the service's. */
export async function sourceRecords(
  plural: string,
  records: readonly string[],
  findHeld?: FindHeld,
): Promise<readonly SourceRecord[]> {
  const response = `{"${plural}": [${records.join(', ')}], "next_cursor": null}`;
  const page = await parseListPage(
    {
      body: { bytes: Buffer.from(response), isLarge: false },
      servedAt: null,
      receivedAt: new Date(),
      requestId: null,
      secrets: [],
      failure: { request: 'GET /', status: 200, errorCode: null, requestId: null },
    },
    plural,
    { limits: { ...answerLimits, records: Infinity }, findHeld },
  );
  return page.records;
}
