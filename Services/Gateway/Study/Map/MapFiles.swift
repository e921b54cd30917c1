import Base
import Crypto
import FoundationEssentials
import Logging
import Pages
import ServiceKit

/// The files of the map of study sessions, from memory: those of Leaflet, which draws it, and the plan of the campus.
struct MapFiles: Sendable {
    /// `nil` if they are not installed. Then the pages show lists.
    let leaflet: Leaflet?
    /// `nil` if the product's own is not installed.
    let plan: TaggedBody?

    /// The files of Leaflet, in one consistent version.
    struct Leaflet: Sendable {
        /// A file by its name.
        enum File: String, ClosedEnum {
            case script = "leaflet.min.js"
            case style = "leaflet.css"

            var type: FileType { self == .script ? .js : .css }
        }

        /// The whole of the script. It begins with who has made it, which the short one has lost.
        private static let source = "leaflet.js"

        /// A digest of all files.
        let version: String
        private let files: [File: TaggedBody]

        /// - Throws: An error of the file system if one of the files is missing.
        init(reading folder: String) throws {
            let root = URL(filePath: folder)
            func read(_ name: String) throws -> Data { try Data(contentsOf: root.appending(path: name)) }
            let notice = (try? read(Self.source)).map(Self.notice) ?? Data()
            let all = try File.allCases.map { file in
                var contents = file == .script ? notice : Data()
                contents.append(try read(file.rawValue))
                return (file: file, contents: contents)
            }
            var hash = SHA256()
            for (_, contents) in all { hash.update(data: contents) }
            version = hash.finalize().shortText
            files = Dictionary(uniqueKeysWithValues: all.map { ($0.file, TaggedBody($0.contents)) })
        }

        subscript(file: File) -> TaggedBody? { files[file] }

        /// The comment with which a file begins, as a line or more; empty without one.
        private static func notice(in file: Data) -> Data {
            let text = String(decoding: file.prefix(2_000), as: UTF8.self)
            guard text.hasPrefix("/*"), let end = text.firstRange(of: "*/") else { return Data() }
            return Data("\(text[..<end.upperBound])\n".utf8)
        }
    }

    /// - Parameter product: The plan of an invented campus, which comes with the product; `nil` if it is not installed.
    /// - Throws: ``ConfigurationError`` if the operator's own plan cannot be read.
    init(_ settings: SettingValues, product: TaggedBody?, logger: Logger) throws {
        leaflet = Self.leaflet(
            in: try settings.value(.leafletFolder), isChosen: settings.isSet(Setting.leafletFolder.declaration), logger)
        plan = try settings.optional(.mapPlan).map(Self.plan(at:)) ?? product
    }

    /// - Parameter isChosen: Whether the operator has named the folder.
    /// - Returns: `nil` if the files cannot be read. Then the log says why.
    private static func leaflet(in folder: String, isChosen: Bool, _ logger: Logger) -> Leaflet? {
        do {
            return try Leaflet(reading: folder)
        } catch {
            logger.log(
                level: isChosen ? .warning : .info,
                "Leaflet cannot be read, and the pages about study sessions show lists in place of maps",
                metadata: ["folder": "\(folder)", "error": "\(error)"])
            return nil
        }
    }

    /// Reads the operator's plan: a `FeatureCollection` of GeoJSON (RFC 7946).
    private static func plan(at path: String) throws -> TaggedBody {
        let setting = Setting.mapPlan.declaration
        let contents = Data(try OperatorFile.text(at: path, of: setting).utf8)
        guard let json = try? JSONValue(parsing: contents), json["type"]?.string == "FeatureCollection",
            json["features"]?.elements != nil
        else {
            throw ConfigurationError("\(setting.name): \(path) is no FeatureCollection of GeoJSON")
        }
        return TaggedBody(contents)
    }
}
