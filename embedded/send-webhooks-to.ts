/** Makes the sandbox send its webhooks to that address only. */
export async function sendWebhooksTo(
  { adminUrl }: { readonly adminUrl: string },
  address: string,
): Promise<void> {
  const response = await fetch(`${adminUrl}/webhooks`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ addresses: [address] }),
  });
  if (!response.ok)
    throw new Error(`The sandbox refused to send webhooks to ${address} (${response.status}).`);
}
