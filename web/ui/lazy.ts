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

/** What loads those components anew that could not be loaded. */
const failed = new Set<() => Promise<void> | undefined>();

/** Loads anew what could not be loaded. Until then, it fails again wherever it is shown. */
export const loadFailed = async (): Promise<void> => {
  const loads = [...failed];
  failed.clear();
  await Promise.all(loads.map((load) => load()));
};

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
      return await load();
    } catch (error) {
      failed.add(() => component.preload?.());
      await requireService();
      throw error;
    }
  }, name);
  return component;
};
