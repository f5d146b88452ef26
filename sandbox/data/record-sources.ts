import type { ResourceName } from '../api/resources.ts';
import { createBillCreditMemos } from './bill-credit-memos.ts';
import { createBills } from './bills.ts';
import { createCompany } from './company.ts';
import type { CompanyDescription } from './company.ts';
import { createCustomers } from './customers.ts';
import { createExpenses } from './expenses.ts';
import { createItems } from './items.ts';
import { createPayables } from './payables.ts';
import type { RecordSource } from './record-source.ts';
import { createSubscriptions } from './subscriptions.ts';
import { createVendors } from './vendors.ts';

/** Creates the books of one company: a consistent record source for every resource. */
export function createRecordSources(description: CompanyDescription): Record<ResourceName, RecordSource> {
  const company = createCompany(description);
  const vendors = createVendors(company);
  const payables = createPayables(company, vendors);
  return {
    bills: createBills(company, payables),
    expenses: createExpenses(company, vendors),
    bill_credit_memos: createBillCreditMemos(company, payables),
    customers: createCustomers(company),
    items: createItems(company),
    subscriptions: createSubscriptions(company),
  };
}
