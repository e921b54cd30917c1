/// The type of a page's file, by the ending of its name.
package enum FileType: String, CaseIterable, Sendable {
    case html, css, js, json, svg, png, webmanifest, woff2

    /// - Returns: `nil` if the ending is unknown.
    package init?(of path: String) {
        guard let ending = path.split(separator: "/").last?.split(separator: ".").dropFirst().last else { return nil }
        self.init(rawValue: String(ending))
    }

    /// Without parameters.
    package var mediaType: String {
        switch self {
        case .html: "text/html"
        case .css: "text/css"
        case .js: "text/javascript"
        case .json: "application/json"
        case .svg: "image/svg+xml"
        case .png: "image/png"
        case .webmanifest: "application/manifest+json"
        case .woff2: "font/woff2"
        }
    }

    /// The `Content-Type` of an answer.
    package var contentType: String {
        switch self {
        case .png, .woff2: mediaType
        case .html, .css, .js, .json, .svg, .webmanifest: mediaType + "; charset=utf-8"
        }
    }
}
