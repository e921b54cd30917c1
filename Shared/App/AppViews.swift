package import Pages

/// The views of the student's app, as files for browsers: messages, subscriptions, settings and broadcasts.
///
/// A page with these views serves ``folder`` together with the shared files and its own ones. It supplies two modules:
///
/// - `lib/state.js`, with what the views show: `state`, the document that `SimulatedPhone.state()` describes; `follow`, which tells of
///   changes; `phoneNow()`; and `hasPopUps`, whether there are pop-ups that a student may do without. Only a page with accounts has
///   `people` in its state.
/// - `lib/requests.js`, with what a person does there: `send(method, path, body)` and `download(path, done)`. The paths are those of
///   the simulated phone.
package enum AppViews {
    package static var folder: PageFolder { PageFolder(of: "App") }

    /// The stylesheet of the views.
    package static let style = "style/app.css"
    /// The part of the catalogue with the texts of the views.
    package static let texts = "app"
}
