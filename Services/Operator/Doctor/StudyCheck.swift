import Base
import Bus
import FoundationEssentials
import Schemas
import ServiceKit

/// Whether the study service is late with its work, and whether the gateway has what it shows maps with.
struct StudyCheck: Sendable {
    let installation: Installation
    let settings: SettingValues
    /// The endpoints of the study services that answer.
    let services: [String]

    private static let timeout = Duration.seconds(5)
    /// What draws maps.
    private static let leaflet = ["leaflet.min.js", "leaflet.css"]

    /// - Throws: ``ConfigurationError``, or ``BusError`` if there is no bus.
    func findings() async throws -> [Finding] {
        let sessions = try await findingsAboutSessions()
        guard installation.services.contains(.gateway) else { return sessions }
        return try sessions + [findingAboutLeaflet()] + findingsAboutMap()
    }

    // MARK: Sessions

    /// - Returns: None if no study service answers, which the check of the sockets reports.
    private func findingsAboutSessions() async throws -> [Finding] {
        guard let endpoint = services.first else { return [] }
        do {
            let counts = try await CommandClient.with([endpoint], settings) {
                try await $0.request(CountStudy(), timeout: Self.timeout)
            }
            return [Self.finding(about: counts)]
        } catch let failure as CommandFailure {
            return [
                .failure(
                    .study,
                    "\(ServiceEntry.study.executable) at \(endpoint) does not say what it knows of sessions: \(failure.message)",
                    "its log says more")
            ]
        }
    }

    static func finding(about counts: CountStudy.Reply) -> Finding {
        guard counts.isLate else {
            return .ok(.study, "\(counted(counts.sessions, "study session")) open, and each ends in time")
        }
        return .failure(
            .study, "study sessions should have ended, or their attendants been told something, \(counts.overdue.rounded) ago",
            "look at the log of \(ServiceEntry.study.executable), and whether its database takes writes; otherwise restart it")
    }

    // MARK: Maps

    private func findingAboutLeaflet() throws -> Finding {
        let folder = try settings.value(.leafletFolder)
        let missing = Self.leaflet.filter { !FileManager.default.isReadableFile(atPath: "\(folder)/\($0)") }
        guard !missing.isEmpty else { return .ok(.study, "maps are drawn by Leaflet, from \(folder)") }
        return .warning(
            .study,
            "\(folder) has no \(missing.joined(separator: " and ")), so the pages show study sessions in lists, without a map",
            "apt install libjs-leaflet, or name its folder by \(Setting<String>.leafletFolder.declaration.name); then restart "
                + ServiceEntry.gateway.executable)
    }

    private func findingsAboutMap() throws -> [Finding] {
        let (tiles, plan) = (try settings.optional(.mapTiles), try settings.optional(.mapPlan))
        guard tiles != nil || plan != nil else { return [Self.exampleMap] }
        let attribution = try settings.optional(.mapAttribution)
        return [
            plan.map { Self.finding(aboutPlanIn: $0) },
            tiles.map { Self.finding(aboutTiles: $0, attribution: attribution) },
        ].compactMap(\.self)
    }

    private static var exampleMap: Finding {
        .ok(
            .study,
            "the map is the plan of an invented campus, which is enough to try the hub out; "
                + "\(Setting<String>.mapPlan.declaration.name) names your own, \(Setting<String>.mapTiles.declaration.name) a server of maps"
        )
    }

    /// The server is not asked: it is browsers that have to reach it.
    static func finding(aboutTiles address: String, attribution: String?) -> Finding {
        let server = address.split(separator: "/").dropFirst().first.map(String.init) ?? address
        let found =
            "browsers get the pictures of the map from \(server), which learns from which address somebody looks at which place"
        guard attribution == nil else { return .ok(.study, found) }
        return .warning(
            .study, "\(found), and nothing on the map says who has made them",
            "set \(Setting<String>.mapAttribution.declaration.name) to what the licence of the pictures demands")
    }

    static func finding(aboutPlanIn file: String) -> Finding {
        let name = Setting<String>.mapPlan.declaration.name
        let problem: String
        do {
            let plan = try Data(contentsOf: URL(filePath: file))
            do {
                let box = try PlanBox(geoJSON: Array(plan))
                return .ok(.study, "the map is the plan in \(file), \(box)")
            } catch {
                problem = "\(error)"
            }
        } catch {
            problem = "it cannot be read by this user"
        }
        return .failure(
            .study, "\(name): the plan of the campus in \(file) cannot be shown: \(problem)",
            "correct the file, or the setting, and restart \(ServiceEntry.gateway.executable)")
    }
}

/// The rectangle around everything in a GeoJSON document (RFC 7946), in degrees.
struct PlanBox: Hashable, Sendable, CustomStringConvertible {
    private(set) var west = Double.infinity
    private(set) var south = Double.infinity
    private(set) var east = -Double.infinity
    private(set) var north = -Double.infinity

    /// Why a document is no plan.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    /// - Throws: ``Mistake``.
    init(geoJSON bytes: [UInt8]) throws(Mistake) {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes)
        } catch {
            throw Mistake(description: "it is no JSON: \(error)")
        }
        guard document["type"]?.string == "FeatureCollection", let features = document["features"]?.elements else {
            throw Mistake(description: "it is no FeatureCollection of GeoJSON")
        }
        for feature in features { try include(feature["geometry"] ?? .null) }
        guard west <= east else { throw Mistake(description: "it has no places") }
    }

    private mutating func include(_ geometry: JSONValue) throws(Mistake) {
        for part in geometry["geometries"]?.elements ?? [] { try include(part) }
        if let coordinates = geometry["coordinates"] { try include(coordinates: coordinates) }
    }

    /// A position is the innermost array: longitude, latitude, and perhaps a height.
    private mutating func include(coordinates: JSONValue) throws(Mistake) {
        guard let parts = coordinates.elements else { throw Mistake(description: "its coordinates are no arrays") }
        guard let first = parts.first, first.elements == nil else {
            for part in parts { try include(coordinates: part) }
            return
        }
        let numbers = parts.compactMap { $0.number.flatMap { Double($0) } }
        guard numbers.count == parts.count, numbers.count >= 2, (-180...180).contains(numbers[0]), (-90...90).contains(numbers[1])
        else { throw Mistake(description: "a position is not a longitude from -180 to 180 and a latitude from -90 to 90") }
        (west, east) = (min(west, numbers[0]), max(east, numbers[0]))
        (south, north) = (min(south, numbers[1]), max(north, numbers[1]))
    }

    var description: String { "from \(south), \(west) to \(north), \(east)" }
}
