import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A workflow's history, recorded with a released version, as `temporal workflow show -o json` prints it. */
export interface ReleasedHistory {
  readonly version: string;
  readonly name: string;
  readonly history: unknown;
}

/** The histories of every released version: see `test/released/README.md`. */
export function releasedHistories(): ReleasedHistory[] {
  const released = path.resolve(import.meta.dirname, '../released');
  const versions = readdirSync(released).filter((name) => name.startsWith('v'));
  return versions.flatMap((version) => {
    const folder = path.join(released, version, 'histories');
    return readdirSync(folder).map((file) => ({
      version,
      name: file.replace('.json.gz', ''),
      history: JSON.parse(gunzipSync(readFileSync(path.join(folder, file))).toString('utf8')) as unknown,
    }));
  });
}
