import { sourceRecord, type SourceRecord } from '../../resources/source-record.ts';
import { recordTexts } from '../../source/record-texts.ts';
import { replaceNul } from '../../source/replace-nul.ts';

/** The records of a list response, by the way that those of the service take. */
export function sourceRecords(plural: string, records: readonly string[]): SourceRecord[] {
  const response = replaceNul(`{"${plural}": [${records.join(', ')}], "next_cursor": null}`);
  return recordTexts(response, plural).map(sourceRecord);
}
