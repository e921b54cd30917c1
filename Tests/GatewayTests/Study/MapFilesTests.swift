import Base
import FoundationEssentials
import HTTPTypes
import Logging
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// The files of the map of study sessions, as the gateway serves them.
@Suite("Files of the map", .timeLimit(.minutes(10)))
struct MapFilesTests {
    private static let notice = "/* @preserve\n * Leaflet, (c) its authors\n */\n"
    private static let script = "let L = 1;\n"
    private static let style = ".leaflet-pane { position: absolute; }\n"
    private static let plan = #"{"type":"FeatureCollection","features":[]}"#
    private static let product = TaggedBody(Data(#"{"type":"FeatureCollection","features":[{}]}"#.utf8))

    private typealias Get = @Sendable (_ target: String, _ headers: [String: String]) async throws -> HTTPAnswer

    /// Writes files into a folder.
    private func write(_ files: [String: String], to folder: String) throws {
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: folder).appending(path: name)) }
    }

    private func files(
        _ settings: [String: String], product: TaggedBody? = product, log: RecordedLog = RecordedLog()
    ) async throws -> MapFiles {
        let values = try await SettingValues(
            arguments: [], environment: settings, accepted: ServiceEntry.gateway.settings)
        return try MapFiles(values, product: product, logger: log.logger)
    }

    private func serve(_ files: MapFiles, _ body: @escaping @Sendable (Get) async throws -> Void) async throws {
        try await withRouteServer(MapRoutes(files: files).routes) { port in
            try await body { target, headers in
                try #require(
                    try await HTTPConversation.send(HTTPConversation.request("GET", target, headers: headers), to: port))
            }
        }
    }

    @Test("Leaflet's short files come with their authors, and are kept for ever with the current version")
    func leaflet() async throws {
        try await withTemporaryFolder { folder in
            let source = Self.notice + "// A comment.\n" + Self.script
            try write(["leaflet.min.js": Self.script, "leaflet.css": Self.style, "leaflet.js": source], to: folder)
            let files = try await files(["MSI_LEAFLET_DIR": folder])
            let path = try #require(StudyMap(of: files, tiles: nil, attribution: nil).leaflet)
            try await serve(files) { get in
                for (name, text, type) in [
                    ("leaflet.min.js", Self.notice + Self.script, "text/javascript"), ("leaflet.css", Self.style, "text/css"),
                ] {
                    let answer = try await get(path + name, [:])
                    #expect(answer.status == 200 && answer.text == text, "\(answer)")
                    #expect(answer["content-type"] == "\(type); charset=utf-8")
                    #expect(answer["cache-control"] == "public, max-age=31536000, immutable")
                    let tag = try #require(answer["etag"])
                    #expect(try await get(path + name, ["If-None-Match": tag]).status == 304)
                    let earlier = try await get("/app/leaflet/0123456789abcdef/\(name)", [:])
                    #expect(earlier.status == 200 && earlier["cache-control"] == "no-cache" && earlier.text == text)
                }
                for target in [path, path + "leaflet.js", path + "../leaflet.min.js", "/app/leaflet/leaflet.min.js"] {
                    let answer = try await get(target, [:])
                    #expect(answer.status == 404 && answer.problem == "not-found", "\(target): \(answer)")
                }
            }
            try write(["leaflet.css": Self.style + "\n"], to: folder)
            #expect(try await self.files(["MSI_LEAFLET_DIR": folder]).leaflet?.version != files.leaflet?.version)
        }
    }

    @Test("Without one of Leaflet's files there are none; the log says so, as a warning if the operator has named the folder")
    func missing() async throws {
        try await withTemporaryFolder { folder in
            try write(["leaflet.min.js": Self.script], to: folder)
            let log = RecordedLog()
            let files = try await files(["MSI_LEAFLET_DIR": folder], log: log)
            #expect(StudyMap(of: files, tiles: nil, attribution: nil).leaflet == nil)
            #expect(log.lines.contains { $0.level == .warning && $0.text.contains("Leaflet") })
            try await serve(files) { get in
                let answer = try await get("/app/leaflet/0/leaflet.min.js", [:])
                #expect(answer.problem == "not-found")
            }
        }
    }

    @Test("The plan is the operator's, or else the product's; it is asked for again, and comes only if it has changed")
    func plans() async throws {
        try await withTemporaryFolder { folder in
            try write(["campus.geojson": Self.plan], to: folder)
            let own = try await files(["MSI_MAP_PLAN": folder + "/campus.geojson"])
            try await serve(own) { get in
                let answer = try await get("/app/plan", [:])
                #expect(answer.status == 200 && answer.text == Self.plan, "\(answer)")
                #expect(answer["content-type"] == "application/geo+json" && answer["cache-control"] == "no-cache")
                let tag = try #require(answer["etag"])
                #expect(try await get("/app/plan", ["If-None-Match": tag]).status == 304)
            }
            try await serve(try await files([:])) { get in
                let answer = try await get("/app/plan", [:])
                #expect(answer.text.contains("[{}]"))
            }
            try await serve(try await files([:], product: nil)) { get in
                let answer = try await get("/app/plan", [:])
                #expect(answer.problem == "not-found")
            }
        }
    }

    @Test(
        "A plan of the operator that is none is an error that names the setting, and no part of the file",
        arguments: ["", "secret", "[]", #"{"type":"Feature"}"#, #"{"type":"FeatureCollection"}"#, nil])
    func badPlan(text: String?) async throws {
        try await withTemporaryFolder { folder in
            if let text { try write(["plan.json": text], to: folder) }
            let error = await #expect(throws: ConfigurationError.self) {
                try await files(["MSI_MAP_PLAN": folder + "/plan.json"])
            }
            let said = "\(String(describing: error))"
            #expect(said.contains("MSI_MAP_PLAN") && !said.contains("secret"), "\(said)")
        }
    }

    @Test("GET /study says what the map is made of, as the settings have it")
    func information() async throws {
        let tiles = "https://tile.example.edu/{z}/{x}/{y}.png"
        let map = StudyMap(of: try await files([:]), tiles: tiles, attribution: "© Example")
        let json = try JSONValue(parsing: JSONCoder.encode(map))
        #expect(json["tiles"]?.string == tiles && json["attribution"] == "© Example" && json["plan"] == "/app/plan")
    }
}
