import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memberText } from '../../source/member-text.ts';
import { cutPage } from '../../source/cut-page.ts';

const recordTexts = (text: string, plural: string): readonly string[] => cutPage(text, plural).records;

describe('the texts of the records of a page', () => {
  test('are what was sent, character by character', () => {
    const texts = recordTexts(
      ' {"connection" : {"bills":["not this"]} ,\n "bills":\t[ {"id":"1","n":1.10e+02} ,{ "s":"]},\\"[{" },"x",-0.0, null,[[]],{} ] ,"next_cursor":null}',
      'bills',
    );
    expect(texts).toEqual([
      '{"id":"1","n":1.10e+02}',
      '{ "s":"]},\\"[{" }',
      '"x"',
      '-0.0',
      'null',
      '[[]]',
      '{}',
    ]);
  });

  test('end at the right quote after any number of backslashes', () => {
    const texts = [String.raw`{"a":"\\"}`, String.raw`{"a":"\\\""}`, String.raw`{"a":"\\\\","b":"\u005c"}`];
    expect(recordTexts(`{"bills":[${texts.join(',')}]}`, 'bills')).toEqual(texts);
  });

  test('are an empty list for an empty page', () => {
    expect(recordTexts('{"bills":[ ]}', 'bills')).toEqual([]);
  });

  test('come from the last of two members with the same name, as with JSON.parse', () => {
    expect(recordTexts('{"bills":[1],"b\\u0069lls":[2]}', 'bills')).toEqual(['2']);
  });

  test('are found however deep a record is nested', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(recordTexts(`{"bills":[${deep}]}`, 'bills')).toEqual([deep]);
  });

  test('are an error if the page has no array of records', () => {
    expect(() => recordTexts('{"bills":{}}', 'bills')).toThrow('no array "bills"');
    expect(() => recordTexts('{}', 'bills')).toThrow('no array "bills"');
  });

  test('are the same records that JSON.parse finds, for any page', () => {
    fc.assert(
      fc.property(pageText, (text) => {
        const parsed = JSON.parse(text) as { bills: unknown[] };
        const texts = recordTexts(text, 'bills');
        expect(texts.map((record) => JSON.parse(record) as unknown)).toEqual(parsed.bills);
        for (const record of texts) expect(text).toContain(record);
      }),
      { numRuns: 500 },
    );
  });

  test('are returned or refused with an Error, for any text that is not JSON', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', ' ', '1', 'a') }),
        (text) => {
          try {
            recordTexts(text, 'a');
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

test('the text of a member keeps its digits', () => {
  expect(memberText('{"connection":null,"bill":{"total_amount":0.1000000000000000000001}}', 'bill')).toBe(
    '{"total_amount":0.1000000000000000000001}',
  );
  expect(memberText('{"bills":1}', 'bill')).toBeNull();
  expect(memberText('{}', 'bill')).toBeNull();
});

/** Pages with members around the records whose strings contain the same names and brackets, indented or not. */
const pageText = fc
  .record({
    bills: fc.array(fc.jsonValue()),
    connection: fc.jsonValue(),
    nested: fc.record({ bills: fc.array(fc.jsonValue()) }),
    text: fc.string({
      unit: fc.constantFrom('"', '\\', ']', '[', '}', '{', ',', 'bills', '\n', 'é', '\u0000'),
    }),
    indent: fc.constantFrom('', ' ', '\t'),
    recordsFirst: fc.boolean(),
  })
  .map(({ bills, indent, recordsFirst, ...around }) =>
    JSON.stringify(recordsFirst ? { bills, ...around } : { ...around, bills }, null, indent),
  );
