/// The HTML of the pages. They work without a script, by keyboard, and in light and dark.
enum EmulatorPage {
    /// The page of a provider at which a person signs in.
    static func signIn(_ provider: Provider, _ people: [EmulatedPerson]) -> String {
        let rows = people.map { "<li><button name=\"sub\" value=\"\($0.sub)\">\(description(of: $0))</button>\n" }.joined()
        return page(
            title: "Sign in with \(provider.title)",
            """
            <p>This page of the identity emulator stands for that of \(provider.title). Nobody is asked for a password.
            <form method="post">
            <h2 id="known">Choose who you are</h2>
            <ul aria-labelledby="known">
            \(rows)</ul>
            </form>
            \(newPerson(button: "Add and sign in"))
            <form method="post">
            <h2>Or do not sign in</h2>
            <p><button name="action" value="cancel">Cancel</button>
            <button name="action" value="fail">Fail as the provider would</button>
            </form>
            """)
    }

    /// The page that says what the emulator is.
    static func start(_ people: [EmulatedPerson]) -> String {
        let rows = people.map { "<li>\(description(of: $0)) (<code>\($0.sub)</code>)\n" }.joined()
        return page(
            title: "Identity emulator",
            """
            <p>This program stands for Google, Firebase Authentication and Facebook, so that signing in to the student's app can be tried
            on this machine. The app leads to its pages. Never let a hub use it where real people sign in.
            <h2>What it does not imitate</h2>
            <p>Passwords, consent, second factors, captchas, sessions that stay, limits of requests, and the look of the real pages.
            <h2 id="known">Who can sign in</h2>
            <ul aria-labelledby="known">
            \(rows)</ul>
            \(newPerson(button: "Add"))
            <h2>For tests</h2>
            <p>Services/IdentityEmulator/API.md describes the paths below <code>/control</code>: claims, tokens that a hub must refuse, new keys,
            and faults.
            """)
    }

    private static func newPerson(button: String) -> String {
        """
        <form method="post">
        <h2>Somebody new</h2>
        <p><label>First name <input name="given_name" required maxlength="\(PageForm.maxLength)" autocomplete="off"></label>
        <p><label>Last name <input name="family_name" required maxlength="\(PageForm.maxLength)" autocomplete="off"></label>
        <p><label>E-mail, if any <input name="email" type="email" maxlength="\(PageForm.maxLength)" autocomplete="off"></label>
        <p><label><input name="email_verified" type="checkbox" value="true" checked> The provider has verified the e-mail</label>
        <p><button name="action" value="add">\(button)</button>
        </form>
        """
    }

    private static func description(of person: EmulatedPerson) -> String {
        let email = person.email.map { ", \($0)\(person.isEmailVerified ? "" : " (not verified)")" } ?? ""
        return escaped(person.name + email)
    }

    /// The colours are those of the browser.
    private static func page(title: String, _ body: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>\(title) (emulator)</title>
        <style>
        :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
        main { max-inline-size: 34rem; margin: 2rem auto; padding-inline: 1rem; }
        h2 { font-size: 1.1rem; margin-block: 1.5rem 0.5rem; }
        ul { padding: 0; list-style: none; }
        li { margin-block: 0.5rem; overflow-wrap: anywhere; }
        li button { inline-size: 100%; text-align: start; }
        button, input:not([type]), input[type=email] { font: inherit; min-block-size: 2.75rem; padding-inline: 0.75rem; }
        input:not([type]), input[type=email] { display: block; inline-size: 100%; box-sizing: border-box; }
        </style>
        <main>
        <h1>\(title)</h1>
        \(body)
        </main>
        </html>

        """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
