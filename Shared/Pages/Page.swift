/// What one page has beside the HTML of all pages.
package struct Page: Sendable {
    /// The language of the HTML as served. A script may change it before the page is painted.
    package var language = "en"
    package var isRightToLeft = false
    /// The script that runs before the page is painted.
    package var first: String
    /// Other files that the page reads at once.
    package var preloads: [String] = []
    /// The parts of the catalogue of texts, beside the common one.
    package var texts: [String] = []
    /// The stylesheets, beside the shared ones.
    package var styles: [String]
    package var module: String
    /// The entry of the frame's navigation that leads to the page. `nil` for a page without the frame.
    package var frame: String?
    /// The path of the web app's manifest; `nil` for a page that cannot be installed.
    package var manifest: String?
    /// The picture of an installed page on systems that do not read it from the manifest.
    package var touchIcon: String?

    package init(first: String, styles: [String], module: String) {
        (self.first, self.styles, self.module) = (first, styles, module)
    }
}
