/**
 * Node loads the whole of its HTTP client with the first touch of `Headers`, `Request`, `Response`
 * or `CloseEvent`: 9 MB of resident memory on Node 20, 7 on 22 and 24, for a daemon that asks
 * nobody by it. The adapter to Node touches all of them when it is imported, as what its own light
 * classes stand on. So these take their place before that: `Headers` whole, since answers carry
 * them; the others by a class that loads Node's own when somebody makes one.
 */
export function deferFetchClasses(): void {
  for (const [name, standIn] of Object.entries(STANDING_IN)) {
    if (!(name in globalThis)) continue;
    const value = standIn(nativeClass(name));
    // Deleted first: from Node 22 on, defining it over the old one would load Node's own class.
    Reflect.deleteProperty(globalThis, name);
    Object.defineProperty(globalThis, name, {
      value,
      writable: true,
      configurable: true,
      enumerable: false,
    });
  }
}

type Constructor = new (...args: unknown[]) => object;

const STANDING_IN: Record<string, (native: () => Constructor) => unknown> = {
  Headers: () => LightHeaders,
  Request: lazyClass,
  Response: lazyClass,
  // The adapter has classes of its own where Node has none.
  CloseEvent: () => undefined,
  ErrorEvent: () => undefined,
};

/** From 22 on asking how a global is defined is a touch, too; what was replaced is gone. */
function nativeClass(name: string): () => Constructor {
  const descriptor = process.version.startsWith('v20.')
    ? Object.getOwnPropertyDescriptor(globalThis, name)
    : undefined;
  return () => {
    const native: unknown = descriptor?.get?.call(globalThis) ?? descriptor?.value;
    if (native !== undefined) return native as Constructor;
    throw new TypeError(`cannot make a ${name} of Node's own: it was never loaded`);
  };
}

/** A class whose instances are Node's own: what a constructor returns takes the place of `this`. */
function lazyClass(native: () => Constructor): unknown {
  return function (...args: unknown[]): unknown {
    return Reflect.construct(native(), args);
  };
}

type Source = Iterable<[string, string]> | Record<string, string> | null | undefined;

/** The Fetch standard's header list (2.2.2) without guards: Node's `http` has them. */
export class LightHeaders implements Iterable<[string, string]> {
  /** By lower-case name: every value, in the order of their coming. */
  readonly #values = new Map<string, string[]>();

  constructor(source?: Source) {
    if (source === null || source === undefined) return;
    const entries =
      Symbol.iterator in source ? (source as Iterable<[string, string]>) : Object.entries(source);
    for (const [name, value] of entries) this.append(name, value);
  }

  append(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), [
      ...(this.#values.get(name.toLowerCase()) ?? []),
      trimmed(value),
    ]);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), [trimmed(value)]);
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  get(name: string): string | null {
    const values = this.#values.get(name.toLowerCase());
    return values?.join(name.toLowerCase() === 'cookie' ? '; ' : ', ') ?? null;
  }

  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])];
  }

  forEach(
    callback: (value: string, name: string, headers: LightHeaders) => void,
    self?: unknown,
  ): void {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  /** In the order of their names; one entry a name, but for cookies, which cannot be joined. */
  *entries(): Generator<[string, string], undefined> {
    for (const name of [...this.#values.keys()].sort()) {
      if (name === 'set-cookie') for (const cookie of this.getSetCookie()) yield [name, cookie];
      else yield [name, this.get(name) ?? ''];
    }
  }

  *keys(): Generator<string, undefined> {
    for (const [name] of this) yield name;
  }

  *values(): Generator<string, undefined> {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator](): Generator<[string, string], undefined> {
    return this.entries();
  }
}

/** Spaces, tabs and line ends around a value are none of it (Fetch standard, "normalize"). */
function trimmed(value: unknown): string {
  return String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
}
