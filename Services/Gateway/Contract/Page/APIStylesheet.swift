/// The stylesheet of the page. Its colours and sizes are those of the whole product.
enum APIStylesheet {
    static let css = """
        :root {
          color-scheme: light dark;
          --ground: light-dark(#f6f7f9, #0f1216);
          --panel: light-dark(#ffffff, #171b21);
          --sunken: light-dark(#eef0f3, #0b0d10);
          --line: light-dark(#e1e4e9, #262c35);
          --line-strong: light-dark(#8a93a1, #6b7686);
          --ink: light-dark(#14181f, #e9edf3);
          --ink-2: light-dark(#4b5563, #a9b3c1);
          --ink-3: light-dark(#69727f, #8792a2);
          --accent: light-dark(#1f5fd6, #7aa7ff);
          --accent-soft: light-dark(#e8effc, #1a2740);
          --bad: light-dark(#b3261e, #ff8a80);
          --bad-soft: light-dark(#fdecea, #331716);
          --good: light-dark(#17693a, #6dd58c);
          --good-soft: light-dark(#e6f4ea, #12291b);
          --text: system-ui, sans-serif;
          --code: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }
        * { box-sizing: border-box; }
        html { scroll-padding-block-start: 64px; }
        body { margin: 0; background: var(--ground); color: var(--ink); font: 400 15px/1.5 var(--text);
          font-variant-numeric: tabular-nums; }
        h1, h2, h3, h4 { margin: 0; font-weight: 650; line-height: 1.2; letter-spacing: -0.015em; }
        h1 { font-size: 28px; }
        h2 { font-size: 22px; }
        h3 { font-size: 18px; }
        h4 { font-size: 13px; font-weight: 600; margin-block: 24px 4px; color: var(--ink-2); letter-spacing: 0; }
        p { margin-block: 8px; max-inline-size: 44em; }
        a { color: var(--accent); text-decoration: none; }
        a:hover { text-decoration: underline; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 6px; }
        code, pre { font-family: var(--code); font-size: 13px; }
        p code { background: var(--sunken); border-radius: 6px; padding-inline: 4px; overflow-wrap: anywhere; }
        pre { margin: 0; padding: 12px; overflow-x: auto; }

        .top { position: sticky; inset-block-start: 0; z-index: 1; display: flex; align-items: center;
          justify-content: space-between; gap: 12px; padding: 8px 24px; background: var(--panel);
          border-block-end: 1px solid var(--line); }
        .name { color: var(--ink); font-weight: 600; }
        .name span { color: var(--ink-3); font-weight: 400; margin-inline-start: 4px; }
        .button { padding: 4px 12px; border: 1px solid var(--line-strong); border-radius: 6px; font-size: 13px; font-weight: 550;
          white-space: nowrap; }

        .columns { display: grid; grid-template-columns: 272px minmax(0, 1fr); }
        nav ul { list-style: none; margin: 0; padding: 0; }
        nav a { display: block; padding: 4px 8px; border-radius: 6px; color: var(--ink-2); }
        nav a:hover { background: var(--sunken); text-decoration: none; }
        nav a.section { margin-block-start: 12px; color: var(--ink); font-weight: 600; }
        .wide { position: sticky; inset-block-start: 48px; align-self: start; max-block-size: calc(100vh - 48px); overflow-y: auto;
          padding: 12px 12px 48px 16px; border-inline-end: 1px solid var(--line); font-size: 13px; }
        .narrow { display: none; }
        main { padding: 32px 32px 48px; max-inline-size: 1280px; }
        main > section + section { margin-block-start: 48px; }

        .route, .document { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; margin-block-start: 16px; }
        .route { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); overflow: hidden; }
        .document, .text { padding: 24px; }
        .examples { padding: 24px; background: var(--sunken); border-inline-start: 1px solid var(--line); }
        :target { border-color: var(--accent); }
        h3 a { color: inherit; }
        .path { margin-block: 12px; overflow-wrap: anywhere; }
        .method { font: 600 13px var(--code); color: var(--accent); background: var(--accent-soft); border-radius: 6px;
          padding: 4px 8px; margin-inline-end: 4px; }
        .rights { color: var(--ink-3); font-size: 13px; }
        .tag { display: inline-block; padding-inline: 8px; border: 1px solid var(--line-strong); border-radius: 999px;
          color: var(--ink-2); }
        .tag.open { color: var(--good); background: var(--good-soft); border-color: transparent; }
        .fields { margin: 0; }
        .fields > div { display: grid; grid-template-columns: 160px minmax(0, 1fr); gap: 4px 16px; padding-block: 8px;
          border-block-start: 1px solid var(--line); }
        .fields > div:first-child { border-block-start: 0; }
        dt { overflow-wrap: anywhere; font-weight: 550; }
        dd { margin: 0; overflow-wrap: anywhere; }
        dd p { margin-block: 4px 0; color: var(--ink-2); }
        .optional { display: block; color: var(--ink-3); font-size: 13px; font-weight: 400; }
        .type { color: var(--ink-3); font-size: 13px; }
        .answers { list-style: none; margin: 0; padding: 0; }
        .answers li { display: grid; grid-template-columns: 48px minmax(0, 1fr); gap: 12px; padding-block: 4px; }
        .status { align-self: start; text-align: center; border-radius: 6px; font: 600 13px/1.8 var(--code);
          background: var(--sunken); color: var(--ink-2); }
        .status.good { color: var(--good); background: var(--good-soft); }
        .status.bad { color: var(--bad); background: var(--bad-soft); }
        .problem { margin-inline-end: 8px; white-space: nowrap; }
        figure { margin: 0; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
        figure + figure { margin-block-start: 16px; }
        figcaption { padding: 8px 12px; border-block-end: 1px solid var(--line); color: var(--ink-3); font-size: 13px; }
        .examples pre { max-block-size: 480px; overflow-y: auto; }
        #overview figure { margin-block-start: 16px; max-inline-size: 44em; }

        @media (max-width: 1080px) {
          .route { grid-template-columns: minmax(0, 1fr); }
          .examples { border-inline-start: 0; border-block-start: 1px solid var(--line); }
        }
        @media (max-width: 760px) {
          .columns { display: block; }
          .top { padding-inline: 16px; }
          .name span, .wide { display: none; }
          .narrow { display: block; padding: 12px 16px; border-block-end: 1px solid var(--line); background: var(--panel); }
          .narrow summary { font-weight: 550; cursor: pointer; padding-block: 4px; }
          .narrow a { padding-block: 8px; }
          main { padding: 24px 16px 48px; }
          .text, .examples, .document { padding: 16px; }
          .fields > div { grid-template-columns: minmax(0, 1fr); }
          .optional { display: inline; margin-inline-start: 8px; }
        }
        """
}
