import fc from 'fast-check';
import pg from 'pg';
import { expect, test } from 'vitest';
import { withoutPassword } from '../../cli/without-password.ts';
import { encodeSecret } from './encode-secret.ts';

/** A password too long to occur by chance, with every character that addresses treat specially. */
const password = fc
  .tuple(
    fc.string({ minLength: 1, maxLength: 12, unit: 'binary-ascii' }),
    fc.nat().map((number) => number.toString(16)),
    fc.string({ maxLength: 3 }),
  )
  .map(([text, hex, more]) => `pw${text}${hex}planted${more}`)
  .filter((text) => !text.includes('\0'));

const forms: readonly ((encoded: string) => string)[] = [
  (encoded) => `postgres://user:${encoded}@db.example.com:5433/books`,
  (encoded) => `postgresql://user:${encoded}@db.example.com/books?sslmode=verify-full`,
  (encoded) => `postgres://:${encoded}@db.example.com/books`,
  (encoded) => `postgres://user@db.example.com/books?password=${encoded}`,
  (encoded) => `postgres://db.example.com/books?sslmode=require&user=u&password=${encoded}&host=other`,
  (encoded) => `postgres:///books?host=%2Fvar%2Frun%2Fpostgresql&user=u&password=${encoded}`,
  (encoded) => `postgres://user:old@db.example.com/books?password=wrong&%70assword=${encoded}`,
  (encoded) => `postgres://user@%2Fvar%2Frun%2Fpostgresql/books?password=${encoded}#fragment`,
];

test.each(forms)('an address in any form that pg understands is shown without its password: %s', (form) => {
  fc.assert(
    fc.property(password, (planted) => {
      const url = form(encodeURIComponent(planted));
      // It is the password if pg takes it for that.
      expect(new pg.Client(url).password).toBe(planted);
      const shown = withoutPassword(url);
      for (const spelling of encodeSecret(Buffer.from(planted)))
        expect(shown).not.toContain(String(spelling));
      for (const other of ['old', 'wrong']) expect(shown).not.toContain(other);
    }),
  );
});

test.each([
  'sslpassword=planted-secret',
  'passfile=planted-secret',
  'options=-c%20app.token%3Dplanted-secret',
  'PASSWORD=planted-secret',
  'whatever=planted-secret',
])('a parameter not known to be harmless is not shown: %s', (parameter) => {
  expect(withoutPassword(`postgres://user@db/books?sslmode=require&${parameter}`)).toBe(
    'postgres://user@db/books?sslmode=require',
  );
});

test.each([
  'postgres:user:planted-secret@db/books',
  'postgres:///user:planted-secret@db/books',
  'planted-secret',
])('an invalid address reveals nothing: %s', (text) => {
  expect(withoutPassword(text)).not.toContain('planted-secret');
});

test('the shown address still says where the database is', () => {
  expect(withoutPassword('postgres://daybook:secret@127.0.0.1:54329/daybook')).toBe(
    'postgres://daybook@127.0.0.1:54329/daybook',
  );
  expect(withoutPassword('postgres:///books?host=/run/postgresql&user=me&password=x')).toBe(
    'postgres:///books?host=%2Frun%2Fpostgresql&user=me',
  );
});
