import { expect, test } from 'vitest';
import { manifestText } from '../../lake/manifest/manifest.ts';
import { emptyManifest } from './empty-manifest.ts';

test('the error about a manifest that is too long says what it lists, and what to do about that', () => {
  const manifest = emptyManifest('20261121T120000Z-aaaaaa', 'w');
  const watermark = { connection_id: 'x'.repeat(40_000_000), stream: 'bills', watermark: null };
  const long = { ...manifest, watermarks: [watermark, watermark] };
  expect(() => manifestText(long)).toThrow(
    /would list 0 files, 2 watermarks of streams, and 0 values .* the number of connections: divide those .* a lake of its own\.$/,
  );
  const unfit = { table: 'bills', column: 'amount', key: {}, value: '1' };
  expect(() => manifestText({ ...long, unfit: [unfit] })).toThrow(
    /and 1 values .*, or correct such values at the source\.$/,
  );
});
