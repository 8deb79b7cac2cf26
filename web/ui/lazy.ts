import { lazyRouteComponent } from '@tanstack/react-router';
import { connectionFailure } from '../api/http.ts';

/** @throws RequestFailed if nothing answers where the page came from */
const requireService = async (): Promise<void> => {
  try {
    await fetch(document.baseURI, { cache: 'no-store' });
  } catch (error) {
    throw connectionFailure(error, false);
  }
};

let styled: Promise<void> | undefined;

/**
 * Loads the styles of all that loads later, which the document names.
 *
 * @throws Error if they do not come; the next call tries again
 */
const loadStyles = (): Promise<void> => {
  styled ??= new Promise((resolve, reject) => {
    const { content } = document.querySelector<HTMLMetaElement>('meta[name=later-styles]') ?? {};
    if (!content) return resolve();
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = content;
    link.onload = () => resolve();
    link.onerror = () => {
      styled = undefined;
      link.remove();
      reject(new Error('the styles did not load'));
    };
    document.head.append(link);
  });
  return styled;
};

/** What loads those components anew that could not be loaded. */
const failed = new Set<() => Promise<void> | undefined>();

/** Loads anew what could not be loaded. Until then, it fails again wherever it is shown. */
export const loadFailed = async (): Promise<void> => {
  const loads = [...failed];
  failed.clear();
  await Promise.all(loads.map((load) => load()));
};

const loaded = new WeakSet<object>();

/** Whether the module of what loads later is there. */
export const isLoaded = (component: object): boolean => loaded.has(component);

/**
 * A view, or a part of one, that loads when it is first shown, or with its `preload`.
 *
 * The router loads the page anew if a file is gone, since an update replaces all files. Without a
 * connection, the browser's own error would then take the place of the page. So the component fails
 * with a `RequestFailed` instead, and `loadFailed` tries again.
 */
export const lazily = <Module extends object, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) => {
  const component = lazyRouteComponent(async () => {
    try {
      const [module] = await Promise.all([load(), loadStyles()]);
      loaded.add(component);
      return module;
    } catch (error) {
      failed.add(() => component.preload?.());
      await requireService();
      throw error;
    }
  }, name);
  return component;
};
