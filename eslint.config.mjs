import tseslint from 'typescript-eslint';

const sizes = {
  'max-lines': ['error', { max: 300 }],
  'max-lines-per-function': ['error', { max: 80, skipComments: true }],
  'max-params': ['error', 3],
  complexity: ['error', 12],
  'no-nested-ternary': 'error',
  'no-empty': 'error',
  eqeqeq: 'error',
  curly: ['error', 'multi-line'],
  'prefer-const': 'error',
};

/** Of the browser what the panel page uses. */
const browserGlobals = [
  'AbortController',
  'AbortSignal',
  'FormData',
  'IntersectionObserver',
  'Intl',
  'MutationObserver',
  'Option',
  'NodeFilter',
  'Response',
  'TextDecoder',
  'URL',
  'URLSearchParams',
  'ResizeObserver',
  'BroadcastChannel',
  'CSS',
  'innerHeight',
  'FileReader',
  'XMLHttpRequest',
  'addEventListener',
  'cancelAnimationFrame',
  'clearTimeout',
  'document',
  'fetch',
  'getComputedStyle',
  'getSelection',
  'history',
  'localStorage',
  'sessionStorage',
  'location',
  'reportError',
  'matchMedia',
  'navigator',
  'parent',
  'performance',
  'requestAnimationFrame',
  'scrollTo',
  'setInterval',
  'setTimeout',
  'window',
];

/** What a view of LuCI gets: the modules that its head requires, and LuCI's own functions. */
const luciGlobals = [
  'E',
  'L',
  '_',
  'baseclass',
  'dom',
  'form',
  'options',
  'fleet',
  'rpc',
  'ui',
  'uci',
  'view',
];

/** Text of packages and programs must never become markup. */
const neverMarkup = ['innerHTML', 'outerHTML', 'insertAdjacentHTML'].map((property) => ({
  property,
  message: 'Use textContent.',
}));

const browserRules = {
  ...sizes,
  'no-undef': 'error',
  'no-unused-vars': 'error',
  'no-shadow': 'error',
  'no-restricted-properties': ['error', ...neverMarkup],
};

function readonly(names) {
  return Object.fromEntries(names.map((name) => [name, 'readonly']));
}

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'demo/'] },
  { files: ['**/*.mjs'], rules: sizes },
  {
    files: ['src/panel/**/*.js'],
    languageOptions: { globals: readonly(browserGlobals) },
    rules: browserRules,
  },
  {
    // LuCI wraps a view into a function, whose value is the class.
    files: ['packaging/openwrt/luci-app-depotd/**/*.js'],
    languageOptions: {
      sourceType: 'script',
      parserOptions: { ecmaFeatures: { globalReturn: true } },
      globals: readonly([...browserGlobals, ...luciGlobals]),
    },
    rules: browserRules,
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: './tsconfig.json',
        tsconfigRootDir: new URL('.', import.meta.url).pathname,
      },
    },
    rules: {
      ...sizes,
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-shadow': 'error',
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines-per-function': ['error', { max: 130, skipComments: true, IIFEs: false }],
      '@typescript-eslint/require-await': 'off',
    },
  },
);
