/** The platform does not accept a write: the answer is `errors` (sections 4.5 and 7; the elements' shape is assumed). */
export class PlatformRefusal extends Error {
  override readonly name = 'PlatformRefusal';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }

  body(): string {
    const slug = this.code.toLowerCase().replaceAll('_', '-');
    const error = { code: this.code, slug, description: this.message, details: null, source: 'platform' };
    return JSON.stringify({ errors: [error] });
  }
}
