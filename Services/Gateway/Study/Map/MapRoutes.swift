import HTTPTypes
import Hummingbird
import Pages

/// What the map of study sessions loads. It is the same for everyone, and has to come also while the services are away, as
/// ``AppRoutes``.
struct MapRoutes: Feature {
    let files: MapFiles

    static let planPath = "/app/plan"
    private static let planType = "application/geo+json"

    var section: APISection {
        APISection(
            "Map",
            "What the map of study sessions loads from here. `GET /study` names the paths, and the server of the map's pictures, "
                + "if there is one.")
    }

    var routes: [Route] {
        [
            Route(.get, Self.planPath, right: .anonymous, answer: .ok(Self.planType), plan).documented(
                "Read the plan of the campus",
                "GeoJSON: the operator's own, or that of an invented campus.", headers: [.ifNoneMatch], answerHeaders: [.eTag],
                also: [AnswerForm(.notModified)], problems: [.notFound], callsServices: false),
            Route(.get, "/app/leaflet/:version/:file", right: .anonymous, answer: .ok(FileType.js.mediaType), leaflet).documented(
                "Read a file of Leaflet",
                "Of the program that draws maps. With the current version the file may be kept for ever. With any other version, "
                    + "the answer is the current file.",
                path: ["version": String.self, "file": MapFiles.Leaflet.File.self], headers: [.ifNoneMatch],
                answerHeaders: [.eTag], also: [AnswerForm(.ok, mediaType: FileType.css.mediaType), AnswerForm(.notModified)],
                problems: [.notFound], callsServices: false),
        ].map { $0.counted(as: .phones) }
    }

    private func plan(_ call: OpenCall<NoBody>) throws -> Answer<NoContent> {
        guard let plan = files.plan else { throw Problem(.notFound, "There is no plan of the campus here.") }
        return Answer(body: plan, Self.planType, for: call)
    }

    private func leaflet(_ call: OpenCall<NoBody>) throws -> Answer<NoContent> {
        guard let leaflet = files.leaflet else { throw Problem(.notFound, "Leaflet is not installed here.") }
        guard let file = call.parameter("file").flatMap(MapFiles.Leaflet.File.init(rawValue:)), let body = leaflet[file] else {
            throw Problem(.notFound, "Leaflet has no file of this name.")
        }
        return Answer(
            body: body, file.type.contentType, for: call,
            cacheControl: call.parameter("version") == leaflet.version ? "public, max-age=31536000, immutable" : "no-cache")
    }
}

extension StudyMap {
    /// - Parameters:
    ///   - tiles: As the operator's setting names them.
    ///   - attribution: As its own setting.
    init(of files: MapFiles, tiles: String?, attribution: String?) {
        self.init(
            tiles: tiles, attribution: attribution, leaflet: files.leaflet.map { "/app/leaflet/\($0.version)/" },
            plan: MapRoutes.planPath)
    }
}
