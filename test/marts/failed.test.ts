import { expect, test } from 'vitest';
import { MartsFailed } from '../../marts/errors.ts';
import { PythonPackagesMissing } from '../../python/errors.ts';

test('a failed build names the models that failed, and says what helps if one needed too many temporary files', () => {
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

test.each(['secret#word', 'secret word', 'secret"word)'])(
  'an error of pip is reported without the address of the proxy, whose password is %s',
  (password) => {
    const said = `ERROR: Could not install packages due to an OSError: Failed to parse: http://user:${password}@127.0.0.1:3128`;
    expect(new PythonPackagesMissing('dbt', said, undefined).message).toBe(
      'dbt could not be installed from PyPI (ERROR: Could not install packages due to an OSError: Failed to parse: …). ' +
        "Check the network, or pip's own settings, and try again.",
    );
  },
);
