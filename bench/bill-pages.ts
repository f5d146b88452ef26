import { createHash } from 'node:crypto';

export const billsPerPage = 500;

/** Changes to some bills since they were first served. */
export interface Changes {
  readonly bills: number;
  /** The number of changed bills, spread over all. */
  readonly changed: number;
  /** From 1; each revision has different content and a newer version. */
  readonly revision: number;
}

export interface BillPages {
  buildRecords(page: number): Buffer;
  /** Pages with only the changed bills; the last one may be shorter, or empty. */
  buildChangedRecords(page: number, changes: Changes): Buffer;
}

/**
 * Creates pages of bills as bytes: about 2.9 KB per bill, with four lines each and digits of every kind. Pages are copies of a few prebuilt
 * templates with different ids, so any number of them costs neither memory nor time.
 */
export function createBillPages(seed: string): BillPages {
  const templates = Array.from({ length: 8 }, (_, index) => buildTemplate(index));
  const pickTemplate = (page: number): Template => templates[page % templates.length] ?? buildTemplate(page);
  const billId = (bill: number): string => deriveUuid(`${seed}/${bill}`);
  return {
    buildRecords(page) {
      const template = pickTemplate(page);
      const bytes = Buffer.from(template.bytes);
      template.offsets.forEach(({ id }, index) => {
        bytes.write(billId(page * billsPerPage + index), id, 'latin1');
      });
      return bytes;
    },
    buildChangedRecords(page, { bills, changed, revision }) {
      const template = pickTemplate(page);
      const bytes = Buffer.from(template.bytes);
      const count = Math.min(Math.max(changed - page * billsPerPage, 0), billsPerPage);
      const version = new Date(Date.UTC(2024, 5, 1) + revision * 60_000).toISOString();
      template.offsets.slice(0, count).forEach((place, index) => {
        const bill = Math.floor(((page * billsPerPage + index) * bills) / changed);
        bytes.write(billId(bill), place.id, 'latin1');
        bytes.write(String(revision % 10), place.memo, 'latin1');
        bytes.write(version, place.version, 'latin1');
      });
      return bytes.subarray(0, template.offsets[count - 1]?.end ?? 0);
    },
  };
}

interface Template {
  readonly bytes: Buffer;
  readonly offsets: readonly RecordOffsets[];
}

/** The byte offsets of the parts of a record that differ between servings. */
interface RecordOffsets {
  readonly id: number;
  readonly memo: number;
  readonly version: number;
  /** The offset after the record. */
  readonly end: number;
}

function buildTemplate(number: number): Template {
  const places: RecordOffsets[] = [];
  let text = '';
  for (let index = 0; index < billsPerPage; index += 1) {
    const start = text.length + (index === 0 ? 0 : 1);
    const record = billText(number * billsPerPage + index);
    text += index === 0 ? record : `,${record}`;
    const behind = (name: string): number => start + record.indexOf(name) + name.length;
    places.push({
      id: behind('"id":"'),
      memo: behind('"memo":"'),
      version: behind('"last_synced_at":"'),
      end: text.length,
    });
  }
  return { bytes: Buffer.from(text, 'latin1'), offsets: places };
}

function billText(n: number): string {
  const fields = [
    `"id":"${deriveUuid(`bill ${n}`)}"`,
    `"platform_id":"${100_000 + n}"`,
    `"account_id":"${deriveUuid('payable')}"`,
    `"payment_terms_id":"${deriveUuid(`terms ${n % 4}`)}"`,
    '"subsidiary_id":null',
    `"vendor_id":"${deriveUuid(`vendor ${n % 300}`)}"`,
    `"due_date":"2024-03-${day(n)}T00:00:00Z"`,
    `"issue_date":"2024-02-${day(n)}T00:00:00Z"`,
    `"amount_due":${n % 5000}.10`,
    '"currency_code":"USD"',
    '"status":"partially_paid"',
    `"total_amount":${n % 9000}.40`,
    `"document_number":"INV-${n}"`,
    `"memo":"Monthly invoice ${n} for services rendered"`,
    `"sub_total":${n % 8000}.00`,
    `"tax_amount":${n % 700}.20`,
    '"total_discount":0.00',
    '"linked_purchase_orders":[]',
    '"currency_rate":"1.0842"',
    '"linked_credit_memos":[]',
    `"linked_payments":[{"id":"${deriveUuid(`payment ${n}`)}","allocated_date":"2024-02-20T00:00:00Z","allocated_amount":${n % 100}.10}]`,
    `"line_items":[${[0, 1, 2, 3].map((line) => lineText(n, line)).join(',')}]`,
    '"created_at":"2024-02-01T10:00:00Z"',
    '"updated_at":"2024-02-02T11:12:13Z"',
    '"last_synced_at":"2024-05-01T00:00:00.000Z"',
  ];
  return `{${fields.join(',')}}`;
}

function lineText(n: number, line: number): string {
  const fields = [
    `"account_id":"${deriveUuid(`account ${(n + line) % 50}`)}"`,
    `"class_id":"${deriveUuid(`class ${line}`)}"`,
    '"customer_id":null',
    `"department_id":"${deriveUuid(`department ${n % 7}`)}"`,
    `"location_id":"${deriveUuid(`location ${n % 5}`)}"`,
    `"tax_rate_id":"${deriveUuid(`tax ${n % 3}`)}"`,
    `"description":"Line ${line} of bill ${n}: office supplies and services for the month"`,
    '"discount_amount":0.00',
    '"discount_percentage":null',
    `"sub_total":${(n % 1000) * 10 + line}.50`,
    `"tax_amount":${n % 90}.05`,
    `"total_amount":${(n % 1000) * 10 + line + (n % 90)}.55`,
    `"item":{"id":"${deriveUuid(`item ${n % 500}`)}","quantity":${1 + (n % 9)},"unit_amount":${n % 300}.125}`,
  ];
  return `{${fields.join(',')}}`;
}

function day(n: number): string {
  return String(1 + (n % 28)).padStart(2, '0');
}

/** Returns an id that looks like a random UUID, as the service's ids do, but is the same in every run. */
function deriveUuid(name: string): string {
  const hex = createHash('md5').update(name).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
