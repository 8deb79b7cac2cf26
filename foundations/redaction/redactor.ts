import { createHmac } from 'node:crypto';
import {
  canonicalJson,
  type ExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../wire/index.ts';
import { awsSecretsIn, type Builtin, createFinder, isCard } from './builtins.ts';
import { findInReadings, unescaped, withoutOverlaps } from './escapes.ts';
import {
  type Action,
  anyStep,
  hashedPaths,
  isOfFields,
  type Root,
  type Rule,
  splitPath,
  structuralKeys,
} from './rules.ts';

/** Finds the matches of a pattern: from one UTF-16 unit up to another each, in order. */
export type FindPattern = (text: string) => Iterable<readonly [from: number, to: number]>;

/** Makes what finds a pattern's matches. */
export type CompilePattern = (pattern: string) => FindPattern;

/** A rule could not be applied. The message names rule and place, and shows nothing of the value. */
export class RedactionFailed extends Error {
  override readonly name = 'RedactionFailed';
  /** Where it failed, such as `inputs`. */
  readonly place: string;
  /** The name of what went wrong. */
  readonly kind: string;

  constructor(place: string, kind: string) {
    super(`redaction failed at ${place}: ${kind}`);
    this.place = place;
    this.kind = kind;
  }
}

/** Hex digits of a hash. No number that a rule looks for has as many, so nothing finds a hash again. */
const hashDigits = 20;

const tokenForm = new RegExp(`^\\[[a-z0-9_-]+:[0-9a-f]{${hashDigits}}\\]$`);

/** What a built-in rule finds, in one form for all spellings of it, so that they have one hash. */
const normal = (builtin: Builtin | undefined, found: string): string => {
  if (builtin === undefined) return found;
  const text = unescaped(found);
  if (builtin === 'email') return text.toLowerCase();
  if (builtin === 'card' || builtin === 'phone') return text.replaceAll(/\D/g, '');
  if (builtin === 'iban') return text.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase();
  return builtin === 'ipv6' ? text.toLowerCase() : text;
};

/** A part of a text that a rule takes. */
interface Hit {
  readonly rule: Rule;
  readonly from: number;
  readonly to: number;
}

/** Finds what a group of rules takes of a text, in order and without overlaps. */
type FindHits = (text: string) => readonly Hit[];

/** What finds the hits of rules. */
interface Finders {
  /** Of all built-in ones together; none without one. */
  readonly builtin: readonly FindHits[];
  /** Of each pattern. */
  readonly patterns: readonly FindHits[];
}

const makeFinders = (rules: readonly Rule[], compilePattern: CompilePattern): Finders => {
  const byBuiltin = new Map(rules.flatMap((rule) => (rule.builtin ? [[rule.builtin, rule] as const] : [])));
  const find = createFinder(new Set(byBuiltin.keys()));
  const builtin: FindHits = (text) =>
    find(text).flatMap(({ rule, from, to }) => {
      const named = byBuiltin.get(rule);
      return named ? [{ rule: named, from, to }] : [];
    });
  const patterns = rules.flatMap((rule): FindHits[] => {
    if (rule.pattern === undefined) return [];
    const matches = compilePattern(rule.pattern);
    const hitsIn: FindHits = (text) => Array.from(matches(text), ([from, to]) => ({ rule, from, to }));
    return [(text) => findInReadings(text, hitsIn)];
  });
  return { builtin: byBuiltin.size > 0 ? [builtin] : [], patterns };
};

/** A path of a rule that is being followed: which step comes next. */
interface Followed {
  readonly rule: Rule;
  readonly steps: readonly string[];
  readonly next: number;
}

/** What applies at a place of a value. */
interface Scope {
  /** Paths that may lead on from here. */
  readonly followed: readonly Followed[];
  /** Rules for texts at and below this place, beside those for all texts. */
  readonly rules: readonly Rule[];
  /** What everything at and below becomes, whatever the actions of rules; undefined for what they say. */
  readonly only?: 'hash' | 'label' | undefined;
}

/** What a step leads to: the scope there, and the rule that takes what is there as a whole. */
interface Entered {
  readonly scope: Scope;
  readonly whole: Rule | undefined;
}

const plain: Entered = { scope: { followed: [], rules: [] }, whole: undefined };
/** Of names of fields: what is dropped would leave the name of another field. */
const ofKeys: Scope = { ...plain.scope, only: 'label' };

/** Stands for "only ever hashed" among rules that are followed. */
const hashedOnly: Rule = { name: '', action: 'hash' };

/** A list or an object that is being walked. */
interface Frame {
  readonly value: JsonValue[] | JsonObject;
  /** The keys of an object; null for a list. */
  readonly keys: readonly string[] | null;
  readonly scope: Scope;
  /** What has become of its items or fields; undefined while nothing has changed. */
  made: (readonly [key: string, value: JsonValue])[] | undefined;
  at: number;
}

const minText = 6;
/** Texts are remembered for the length of a report: agents repeat their conversations. */
const maxRemembered = 20_000;
const maxCleanKeys = 10_000;
const leastCard = 1e12;
const mostCard = 1e19;
/** A number without a fraction, as JSON has it: its digits. */
const wholeNumber = /^-?(\d+)(?:\.0+)?$/;

/** A ref to an object, an op, a call or a table, in any dialect. */
const refForm =
  /^(?:svc|weave):\/\/\/[^/\s]+\/[^/\s]+\/(?:(?:object|op)\/[^/:\n]+:[^/:\s]+(?:\/(?:attr|key|index|id)\/[^/\n]*)*|(?:call|table)\/[^/\s]+)$/;
const digestInRef = /:[\w-]{43}(?=\/|$)/;

const isRef = (text: string): boolean =>
  (text.startsWith(':///', 3) || text.startsWith(':///', 5)) && refForm.test(text);

/**
 * Whether a value is an exact number. What redacts is bundled apart from what makes them, so their
 * class is another one. No value of JSON has a function.
 */
const isExact = (value: object): value is ExactNumber => typeof Reflect.get(value, 'toJSON') === 'function';

/** A number as JSON has it, without an exponent if it is whole. */
const plainDigits = (value: number | ExactNumber): string => {
  const text = String(value);
  return /[eE]/.test(text) && Number.isSafeInteger(Number(text)) ? String(Number(text)) : text;
};

/** A value as canonical JSON, whichever class its exact numbers have. */
const canonicalText = (value: JsonValue): string =>
  canonicalJson(parseJson(JSON.stringify(value)) as JsonValue);

/** What a rule leaves of a value. Undefined for nothing. */
type Left = JsonValue | undefined;

/** Applies rules to what a request reports. One serves a container for its life. */
export class Redactor {
  readonly #everywhere: Finders;
  readonly #start: Scope;
  readonly #compilePattern: CompilePattern;
  readonly #key: string | undefined;
  readonly #ofRule = new Map<Rule, Finders>();
  readonly #cleanKeys = new Set<string>();
  readonly #remembered = new Map<string, string>();
  readonly #everyRule: readonly Rule[];

  /**
   * @param key the key of hashes; undefined if no rule can need it
   * @param compilePattern makes what finds a pattern's matches
   */
  constructor(
    rules: readonly Rule[],
    key: string | undefined,
    compilePattern: CompilePattern = () => {
      throw new Error('there is nothing to find patterns with');
    },
  ) {
    const everywhere = rules.filter((rule) => !rule.paths && !isOfFields(rule));
    this.#key = key;
    this.#compilePattern = compilePattern;
    this.#everywhere = makeFinders(everywhere, compilePattern);
    this.#everyRule = everywhere;
    const followed = [
      ...hashedPaths.map((steps) => ({ rule: hashedOnly, steps, next: 0 })),
      ...rules.flatMap((rule) =>
        (rule.paths ?? []).map((path) => ({ rule, steps: splitPath(path), next: 0 })),
      ),
    ];
    this.#start = { followed, rules: [] };
  }

  /**
   * Forgets the texts of the last request. What was found in a text is remembered until then.
   */
  forget(): void {
    this.#remembered.clear();
  }

  /**
   * A value with what the rules leave of it. It is the same value if they find nothing; otherwise it
   * shares with it what has not changed.
   *
   * @param root where the value stands, of {@link roots}
   * @returns null for a value that is dropped as a whole
   * @throws RedactionFailed if a rule fails
   */
  value(root: Root, value: JsonValue): JsonValue {
    return this.#guarded(root, () => {
      const { scope, whole } = this.#enter(this.#start, root);
      const left = whole ? this.#whole(whole, value, scope) : this.#walk(value, scope);
      return left ?? null;
    });
  }

  /** {@link value} of an object, which stays one. */
  object(root: Root, value: JsonObject): JsonObject {
    const left = this.value(root, value);
    return isJsonObject(left) ? left : left === null ? {} : { redacted: left };
  }

  /**
   * A text with what the rules leave of it, which may be empty.
   *
   * @throws RedactionFailed if a rule fails
   */
  text(root: Root, text: string): string {
    const left = this.value(root, text);
    return typeof left === 'string' ? left : '';
  }

  /**
   * A value without a place of its own, to which no path leads.
   *
   * @param place says where it stands, for the error
   * @throws RedactionFailed if a rule fails
   */
  anywhere<T extends JsonValue>(place: string, value: T): T {
    return this.#guarded(place, () => this.#walk(value, plain.scope) as T);
  }

  /**
   * A name by which records are found together: what the rules find in it is hashed, whatever their
   * action.
   *
   * @param most the most characters that it may have
   * @throws RedactionFailed if a rule fails
   */
  name(place: string, name: string, most: number): string {
    return this.#guarded(place, () => {
      const { scope, whole } = this.#enter(this.#start, place);
      const hashed: Scope = { ...scope, only: 'hash' };
      const left = whole ? this.#whole(whole, name, hashed) : this.#text(name, hashed);
      if (typeof left === 'string' && left.length <= most) return left;
      return this.#hash({ name: 'name', action: 'hash' }, name);
    });
  }

  /**
   * The name of the built-in rule that finds something in a text that cannot be changed; undefined
   * if none does.
   *
   * @throws RedactionFailed if a rule fails
   */
  foundIn(place: string, text: string): string | undefined {
    return this.#guarded(place, () => this.#hitsInAddress(text, [])[0]?.rule.name);
  }

  #guarded<T>(place: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof RedactionFailed) throw error;
      // The message of what went wrong may quote the text. Its name does not.
      const kind = error instanceof Error ? error.name : typeof error;
      throw new RedactionFailed(place, kind);
    }
  }

  /** What is at a step from a place. */
  #enter({ followed, rules, only }: Scope, step: string): Entered {
    if (followed.length === 0)
      return rules.length === 0 && !only ? plain : { scope: { followed, rules, only }, whole: undefined };
    const on: Followed[] = [];
    const added: Rule[] = [];
    let onlyHere = only;
    let whole: Rule | undefined;
    for (const rule of followed) {
      const wanted = rule.steps[rule.next];
      if (wanted !== anyStep && wanted !== step) continue;
      if (rule.next + 1 < rule.steps.length) on.push({ ...rule, next: rule.next + 1 });
      else if (rule.rule === hashedOnly) onlyHere = 'hash';
      else if (isOfFields(rule.rule)) whole ??= rule.rule;
      else added.push(rule.rule);
    }
    if (on.length === 0 && added.length === 0 && rules.length === 0 && !onlyHere)
      return whole ? { ...plain, whole } : plain;
    const all = added.length > 0 ? [...rules, ...added] : rules;
    return { scope: { followed: on, rules: all, only: onlyHere }, whole };
  }

  /** What a rule for whole fields leaves of one. */
  #whole(rule: Rule, value: JsonValue, { only }: Scope): Left {
    if (value === null) return null;
    if (typeof value === 'string' && tokenForm.test(value)) return value;
    const action = only ?? rule.action;
    if (action === 'drop') return undefined;
    if (action === 'label') return `[${rule.name}]`;
    return this.#hash(rule, typeof value === 'string' ? value : canonicalText(value));
  }

  #hash({ name, builtin }: Rule, text: string): string {
    if (this.#key === undefined) throw new Error('there is no key for hashes');
    const digest = createHmac('sha256', this.#key).update(normal(builtin, text)).digest('hex');
    return `[${name}:${digest.slice(0, hashDigits)}]`;
  }

  #replacement(rule: Rule, text: string, only: Scope['only']): string {
    // A name of a field that is hashed keeps its hash.
    const action: Action = only === 'label' && rule.action === 'hash' ? 'hash' : (only ?? rule.action);
    if (action === 'hash') return this.#hash(rule, text);
    return action === 'label' ? `[${rule.name}]` : '';
  }

  #replaced(text: string, hits: readonly Hit[], only: Scope['only']): string {
    let made = '';
    let done = 0;
    for (const { rule, from, to } of hits) {
      if (from < done || to <= from) continue;
      made += text.slice(done, from) + this.#replacement(rule, text.slice(from, to), only);
      done = to;
    }
    return made + text.slice(done);
  }

  /** A text with what finders leave of it, one after the other. */
  #after(finders: readonly FindHits[], text: string, only: Scope['only']): string {
    let made = text;
    for (const find of finders) {
      const hits = find(made);
      if (hits.length > 0) made = this.#replaced(made, hits, only);
    }
    return made;
  }

  #text(text: string, scope: Scope): string {
    const isPlain = scope.rules.length === 0 && !scope.only;
    const { builtin, patterns } = this.#everywhere;
    if (text.length < minText && isPlain && patterns.length === 0) return text;
    const known = isPlain ? this.#remembered.get(text) : undefined;
    if (known !== undefined) return known;
    let made: string;
    if (isRef(text)) made = this.#address(text, scope.rules);
    else {
      made = this.#after(builtin, text, scope.only);
      made = this.#after(patterns, made, scope.only);
      for (const own of this.#getFinders(scope.rules))
        made = this.#after([...own.builtin, ...own.patterns], made, scope.only);
    }
    if (isPlain) {
      if (this.#remembered.size >= maxRemembered) this.forget();
      this.#remembered.set(text, made);
    }
    return made;
  }

  #getFinders(rules: readonly Rule[]): readonly Finders[] {
    return rules.map((rule) => {
      const known = this.#ofRule.get(rule) ?? makeFinders([rule], this.#compilePattern);
      this.#ofRule.set(rule, known);
      return known;
    });
  }

  /**
   * What built-in rules find in a text that says where or what something is. Patterns do not look at
   * it: they would take names of classes and refs apart. The digest in a ref is chance.
   */
  #hitsInAddress(text: string, rules: readonly Rule[]): readonly Hit[] {
    const looked = isRef(text)
      ? text.replace(digestInRef, (digest) => `:${'x'.repeat(digest.length - 1)}`)
      : text;
    const finders = [this.#everywhere, ...this.#getFinders(rules)];
    return withoutOverlaps(finders.flatMap(({ builtin }) => builtin.flatMap((find) => find(looked))));
  }

  /** Such a text as it may be stored: the same, or one that is no other address and no other name. */
  #address(text: string, rules: readonly Rule[]): string {
    return this.#replaced(text, this.#hitsInAddress(text, rules), this.#key === undefined ? 'label' : 'hash');
  }

  /** What says of which class a value is. Undefined if it does not. */
  #classNames(key: string, value: JsonValue): JsonValue | undefined {
    if (!structuralKeys.has(key)) return undefined;
    if (typeof value === 'string') return this.#address(value, []);
    if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) return undefined;
    const made = value.map((name) => this.#address(name, []));
    return made.every((name, i) => name === value[i]) ? value : made;
  }

  /** The rule for a built-in form that applies at a place. */
  #ruleFor(builtin: Builtin, { rules }: Scope): Rule | undefined {
    const isIt = (rule: Rule) => rule.builtin === builtin;
    return this.#everyRule.find(isIt) ?? rules.find(isIt);
  }

  /** A card's number may be a number, and so may what patterns look for. It becomes a text then. */
  #number(value: number | ExactNumber, scope: Scope): JsonValue {
    const near = Math.abs(Number(value));
    if (near >= leastCard && near <= mostCard) {
      const rule = this.#ruleFor('card', scope);
      const digits = rule && wholeNumber.exec(plainDigits(value))?.[1];
      if (rule && digits !== undefined && isCard(digits)) return this.#replacement(rule, digits, scope.only);
    }
    const { patterns } = this.#everywhere;
    if (patterns.length === 0 && scope.rules.length === 0) return value;
    const text = String(value);
    const own = this.#getFinders(scope.rules).flatMap((finders) => finders.patterns);
    const made = this.#after([...patterns, ...own], text, scope.only);
    return made === text ? value : made;
  }

  /** The secret half of an AWS key has no form of its own: it is known by the name of its field. */
  #field(key: string, value: string, scope: Scope): string {
    const secrets = awsSecretsIn(key, value);
    const rule = secrets.length > 0 ? this.#ruleFor('aws_key', scope) : undefined;
    if (!rule) return this.#text(value, scope);
    const hits = secrets.map((secret) => ({ rule, ...secret }));
    return this.#text(this.#replaced(value, hits, scope.only), scope);
  }

  #scalar(value: Exclude<JsonValue, JsonValue[] | JsonObject>, scope: Scope): JsonValue {
    if (typeof value === 'string') return this.#text(value, scope);
    return typeof value === 'boolean' || value === null ? value : this.#number(value, scope);
  }

  #redactKey(key: string): string {
    if (this.#cleanKeys.has(key)) return key;
    const made = structuralKeys.has(key) ? key : this.#text(key, ofKeys);
    if (made === key && this.#cleanKeys.size < maxCleanKeys) this.#cleanKeys.add(key);
    return made;
  }

  /** Walks lists and objects of any depth. */
  #walk(value: JsonValue, scope: Scope): JsonValue {
    if (typeof value !== 'object' || value === null || isExact(value)) return this.#scalar(value, scope);
    const stack: Frame[] = [toFrame(value, scope)];
    for (;;) {
      const frame = stack.at(-1);
      if (!frame) throw new Error('the walk has lost its way');
      const { keys, at } = frame;
      const count = keys ? keys.length : (frame.value as JsonValue[]).length;
      if (at === count) {
        stack.pop();
        const made = finished(frame);
        const parent = stack.at(-1);
        if (!parent) return made;
        this.#put(parent, frame.value, made);
        continue;
      }
      const key = keys ? (keys[at] ?? '') : String(at);
      const child = keys ? (frame.value as JsonObject)[key] : (frame.value as JsonValue[])[at];
      const entered =
        frame.scope.followed.length === 0 && frame.scope === plain.scope
          ? plain
          : this.#enter(frame.scope, key);
      const classNames = keys && child !== undefined ? this.#classNames(key, child) : undefined;
      if (child === undefined) {
        frame.at++;
      } else if (classNames !== undefined) {
        this.#put(frame, child, classNames);
      } else if (entered.whole && !(keys && structuralKeys.has(key))) {
        this.#put(frame, child, this.#whole(entered.whole, child, entered.scope));
      } else if (typeof child !== 'object' || child === null || isExact(child)) {
        const { scope } = entered;
        this.#put(
          frame,
          child,
          typeof child === 'string' ? this.#field(key, child, scope) : this.#scalar(child, scope),
        );
      } else {
        stack.push(toFrame(child, entered.scope));
      }
    }
  }

  /** Notes what has become of the present item or field of a frame, and goes on to the next. */
  #put(frame: Frame, before: JsonValue, after: Left): void {
    const { keys, at } = frame;
    const key = keys ? (keys[at] ?? '') : '';
    const madeKey = keys ? this.#redactKey(key) : key;
    frame.at++;
    if (!frame.made) {
      if (after === before && madeKey === key) return;
      frame.made = entriesBefore(frame, at);
    }
    // An item keeps its place.
    if (after !== undefined) frame.made.push([madeKey, after]);
    else if (!keys) frame.made.push([key, null]);
  }
}

const toFrame = (value: JsonValue[] | JsonObject, scope: Scope): Frame => ({
  value,
  keys: Array.isArray(value) ? null : Object.keys(value),
  scope,
  made: undefined,
  at: 0,
});

const entriesBefore = ({ value, keys }: Frame, at: number): (readonly [string, JsonValue])[] =>
  Array.isArray(value)
    ? value.slice(0, at).map((item) => ['', item] as const)
    : (keys ?? []).slice(0, at).map((key) => [key, value[key] ?? null] as const);

/** What a frame has become: the same value if nothing has changed. */
const finished = ({ value, keys, made }: Frame): JsonValue => {
  if (!made) return value;
  if (!keys) return made.map(([, item]) => item);
  const taken = new Map<string, JsonValue>();
  const counts = new Map<string, number>();
  for (const [key, field] of made) {
    // Several keys may become one label: no value is lost.
    let count = counts.get(key) ?? 0;
    let name = key;
    do {
      count++;
      name = count === 1 ? key : `${key} ${count}`;
    } while (taken.has(name));
    counts.set(key, count);
    taken.set(name, field);
  }
  // Unlike assignment, this makes `__proto__` a field too.
  return Object.fromEntries(taken);
};
