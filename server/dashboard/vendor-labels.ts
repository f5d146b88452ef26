import { counted } from '../frame/counted.ts';

interface Ranked {
  /** Null: all vendors together. */
  readonly place: number | null;
  /** The number of vendors in the row. */
  readonly vendors: number;
  readonly vendor_connection_id: string;
  readonly vendor_id: string;
  /** Unique within its connection. */
  readonly vendor_name: string | null;
}

/** The number of vendors with a row of their own; the place after the last one is for all others. */
export const vendorsShown = 15;

/** Returns the labels of the vendors in a list. Vendors of two connections that share a name are distinguished by connection. */
export function vendorLabels(rows: readonly Ranked[]): string[] {
  const names = rows.filter(isVendor).map(vendorName);
  return rows.map((row) => {
    if (row.place === null) return 'All vendors';
    if (!isVendor(row)) return counted(row.vendors, 'other');
    const name = vendorName(row);
    return names.filter((other) => other === name).length === 1
      ? name
      : `${name} · ${row.vendor_connection_id}`;
  });
}

function isVendor({ place }: Ranked): boolean {
  return place !== null && place <= vendorsShown;
}

function vendorName({ vendor_name, vendor_id }: Ranked): string {
  return vendor_name ?? vendor_id;
}
