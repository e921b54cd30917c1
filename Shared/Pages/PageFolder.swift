package import FoundationEssentials

/// A folder of files for browsers. SwiftPM puts it beside the executable, and an installation keeps it there.
package struct PageFolder: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// - Parameters:
    ///   - target: The target whose resources have the folder.
    ///   - name: The folder's name there.
    package init(of target: String, named name: String = "Files") {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let folder = URL(filePath: executable).deletingLastPathComponent()
        path = folder.appending(path: "mobile-student-intranet_\(target).resources/\(name)").path
    }

    /// The files that the pages of several programs use: colours and sizes, and modules without a page.
    package static var shared: PageFolder { PageFolder(of: "Pages") }

    /// Reads all files of known types into memory, by their paths in the folder.
    ///
    /// - Throws: An error of the file system.
    package func read() throws -> [String: Data] {
        let root = URL(filePath: path)
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where FileType(of: name) != nil {
            contents[name] = try Data(contentsOf: root.appending(path: name))
        }
        return contents
    }
}

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
