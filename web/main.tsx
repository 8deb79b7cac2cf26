import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, Suspense, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { RequestFailed } from './api/http.ts';
import { makeRouter } from './app/router.tsx';
import { applyTheme } from './session/device.ts';
import { Gate } from './session/gate.tsx';
import { linkedCredentials } from './session/link.ts';
import { lazily } from './ui/lazy.ts';

applyTheme();

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 60_000,
      refetchOnWindowFocus: false,
      // Without a network a request fails, and the view says so. Else it would wait without a word.
      networkMode: 'always',
      // Calls may be 100,000 levels deep, which comparing two answers would walk through.
      structuralSharing: false,
      retry: (count, error) =>
        count < 2 && error instanceof RequestFailed && (error.status === 429 || error.status === 503),
    },
    mutations: { networkMode: 'always' },
  },
});

// Taken once, and before anything else sees the address.
const linked = linkedCredentials();

/** The views. The sign-in may have led back to another one than the document was opened with. */
const Views = () => {
  const [router] = useState(makeRouter);
  return <RouterProvider router={router} />;
};

/** What opens with a public link takes no key. */
const isShared = location.pathname === new URL('shared', document.baseURI).pathname;
const SharedApp = lazily(() => import('./app/shared.tsx'), 'SharedApp');

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={cache}>
      {isShared ? (
        <Suspense>
          <SharedApp />
        </Suspense>
      ) : (
        <Gate linked={linked}>
          <Views />
        </Gate>
      )}
    </QueryClientProvider>
  </StrictMode>,
);
