import { expect, test } from 'vitest';
import { MartsFailed } from '../../marts/errors.ts';

test('a build that fails says which models did; for one that needed too many temporary files, also what helps', () => {
  const plain = new MartsFailed([{ name: 'bills', message: 'division by zero' }], '/home/dbt.log');
  expect(plain.message).toBe('The marts were not replaced: bills failed. The log is in /home/dbt.log.');
  const spilled = new MartsFailed(
    [
      {
        name: 'bills',
        message: 'Database Error in model bills: temporary file size exceeds "temp_file_limit" (1048576kB)',
      },
      { name: 'vendors', message: '' },
    ],
    '/home/dbt.log',
  );
  expect(spilled.message).toMatch(
    /: bills, vendors failed\. A statement needed more temporary files than temp_file_limit allows: .* raises it .* start it again\. The log/,
  );
});
