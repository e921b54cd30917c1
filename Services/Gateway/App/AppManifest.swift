import Base
import Pages

/// The web app's manifest (W3C): what browsers need to install the app.
struct AppManifest {
    let json: JSONValue

    /// - Parameters:
    ///   - files: The path of the app's files, without a slash at its end.
    ///   - colour: Behind the app while it starts, and of the system's bar above it.
    init(_ site: Site, _ language: AppLanguage, files: String, colour: String) {
        func text(_ key: String) -> JSONValue { .string(site.text(key, in: language.rawValue)) }
        func icon(_ name: String, _ sizes: String, _ type: FileType, _ purpose: String = "any") -> JSONValue {
            [
                "src": .string("\(files)/\(name).\(type.rawValue)"), "sizes": .string(sizes), "type": .string(type.mediaType),
                "purpose": .string(purpose),
            ]
        }
        json = [
            "id": .string(AppFiles.root), "name": text("product"), "short_name": text("product"),
            "description": text("manifest.description"), "lang": .string(language.rawValue),
            "dir": .string(language.isRightToLeft ? "rtl" : "ltr"), "start_url": .string(AppFiles.root),
            "scope": .string(AppFiles.root), "display": "standalone", "background_color": .string(colour),
            "theme_color": .string(colour),
            "icons": [
                icon("icon", "any", .svg), icon("icons/192", "192x192", .png), icon("icons/512", "512x512", .png),
                icon("icons/maskable", "512x512", .png, "maskable"),
            ],
        ]
    }
}
