import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { prove } from './prove.ts';

/** Faults that a test in another folder covers: [fault, result, file, words of the test's name]. */
const coveredElsewhere = [
  [
    'API sends an answer a byte at a time, for ever (slow loris)',
    'the request is given up and tried again',
    'test/source/api-client.test.ts',
    'the body comes a byte at a time and never ends',
  ],
  [
    'API sends a body that grows for ever',
    'the request is given up and tried again',
    'test/source/api-client.test.ts',
    'a body without end, once it is larger than allowed',
  ],
  [
    'API accepts a request and never answers',
    'the request is given up and tried again',
    'test/source/api-client.test.ts',
    'the answer does not begin',
  ],
  [
    'kill -9 before each file operation of an export',
    'readers see the old snapshot until the pointer names the new one, and the next attempt repairs',
    'test/lake/publish.test.ts',
    'an export that is killed before $operation of $path is repaired',
  ],
  [
    'The disk of the lake is full',
    'the run fails with what is needed where, and the old snapshot stays',
    'test/lake/full-disk.test.ts',
    'a disk that is full in the middle of an export fails the run at once',
  ],
  [
    'kill -9 of the HTTP server under 200 webhooks a second',
    'every webhook that was acknowledged is stored',
    'test/webhooks/outages.test.ts',
    'a server killed in the middle of 200 a second has stored every webhook that it acknowledged',
  ],
  [
    'kill -9 in the middle of dbt',
    'readers see the last good marts, and the next build repairs',
    'test/dbt/publishing.test.ts',
    'kill -9 in the middle of dbt',
  ],
  [
    'kill -9 between the commits of two Iceberg tables',
    'readers by tag see no part of the snapshot, and the next export completes it',
    'test/lake/iceberg.test.ts',
    'an export killed between tables shows readers no partial snapshot, and the next export completes it',
  ],
  [
    'kill -9 before the commit of an Iceberg table',
    'the table stays as it was, and the next export completes it',
    'test/lake/iceberg.test.ts',
    'an export killed before the commit of a table leaves the table as it was, and the next export completes it',
  ],
  [
    'kill -9 before each commit of the Iceberg tables, of their list and of what an erasure removes',
    'complete tags are whole, and the next export ends the work',
    'test/lake/iceberg-killed.proof.test.ts',
    'a program that is killed before any of its commits leaves complete tags whole, and the next one ends its work',
  ],
  [
    'kill -9 of a build on Spark',
    'nothing is published, and the next build publishes the latest snapshot',
    'test/dbt/on-spark-command.proof.test.ts',
    'a killed build on Spark publishes nothing, and each later build publishes the latest snapshot',
  ],
] as const;

test.each(coveredElsewhere)(
  'a test in another folder covers the fault "%s": %s',
  async (fault, survived, file, name) => {
    expect(await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')).toContain(name);
    await prove({ fault, during: `\`${file}\``, survived, seen: '' });
  },
);
