/** The address without parameters of these names. The others stay as they are spelled: libpq takes no plus sign for a space. */
export function withoutParameters(url: URL, names: readonly string[]): URL {
  const plain = new URL(url);
  const parameters = url.search.slice(1).split('&');
  plain.search = parameters.filter((parameter) => !names.includes(nameOf(parameter))).join('&');
  return plain;
}

function nameOf(parameter: string): string {
  const [name = ''] = new URLSearchParams(parameter).keys();
  return name;
}
