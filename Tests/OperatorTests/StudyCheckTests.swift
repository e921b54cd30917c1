import Base
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// What `msi doctor` and `msi status` say about study sessions and their map.
@Suite("Study sessions for the operator")
struct StudyCheckTests {
    private static let now = UnixMilliseconds(rawValue: 1_796_000_000_000)

    private func counts(due seconds: Int64?) -> CountStudy.Reply {
        CountStudy.Reply(
            classes: 40, sessions: 12, attendants: 57, due: seconds.map { Self.now + .seconds($0) }, now: Self.now)
    }

    /// The findings of an installation with a gateway that is not running.
    private func findings(_ settings: [String: String]) async throws -> [Finding] {
        try await withTemporaryFolder { folder in
            let gateway = folder + "/" + ServiceEntry.gateway.executable
            try #require(FileManager.default.createFile(atPath: gateway, contents: Data()))
            chmod(gateway, 0o700)
            let values = try await SettingValues(
                arguments: [], environment: ["MSI_LEAFLET_DIR": folder].merging(settings) { $1 }, accepted: [])
            let installation = Installation(executables: folder, environment: [:], isRoot: false)
            return try await StudyCheck(installation: installation, settings: values, services: []).findings()
        }
    }

    @Test("Work that has waited for more than a minute is a failure, and the status says so")
    func late() {
        for due in [nil, 30, -60] as [Int64?] {
            #expect(StudyCheck.finding(about: counts(due: due)).level == .ok)
            #expect(StudyState.known(counts(due: due)).lines == ["study: 12 open sessions with 57 persons, in 40 classes"])
        }
        let late = StudyCheck.finding(about: counts(due: -300))
        #expect(late.level == .failure && late.found.hasSuffix("5 min ago"), "\(late)")
        #expect(StudyState.known(counts(due: -300)).lines.first?.hasSuffix("ends and pushes are late by 5 min") == true)
    }

    @Test("The status has the counts, or why they are not known; a gateway without a study service is not asked about it")
    func status() async throws {
        func health(_ services: String) throws -> ProductStatus.Health {
            let json = #"{"status":"ok","services":{\#(services)},"versions":{},"parts":{},"copies":{}}"#
            return try JSONCoder.decode(ProductStatus.Health.self, from: Data(json.utf8))
        }
        func status(_ study: StudyState) throws -> ProductStatus {
            ProductStatus(
                gateway: "http://h", health: try health(""), places: [], canary: .notSetUp,
                messages: .failure(GatewayFailure(.notAllowed, "no right")), token: .usable, study: study, at: Self.now)
        }
        let known = try status(.known(counts(due: nil)))
        let json = try JSONValue(parsing: try JSONCoder.encode(known))
        #expect(json["study"]?["attendants"] == 57 && json["study_problem"] == nil)
        #expect(StatusText(status: known).description.contains("\nstudy: 12 open sessions"))
        let unknown = try status(.unknown(problem: "it does not answer"))
        #expect(unknown.status == .ok)
        #expect(StatusText(status: unknown).description.contains("study: the sessions are not known: it does not answer"))
        let settings = try await SettingValues(arguments: [], environment: [:], accepted: [])
        let withoutStudy = await StudyState.read(settings, try health(#""cube":"ok""#))
        #expect(withoutStudy.lines.isEmpty)
    }

    @Test("Without Leaflet there are no maps; without tiles and a plan the map is that of an invented campus")
    func leaflet() async throws {
        try await withTemporaryFolder { folder in
            let missing = try await findings(["MSI_LEAFLET_DIR": folder])
            #expect(missing.map(\.level) == [.warning, .ok], "\(missing)")
            #expect(missing.last?.found.contains("invented campus") == true)
            #expect(missing.first?.found.hasPrefix("\(folder) has no leaflet.min.js and leaflet.css") == true)
            for name in ["leaflet.min.js", "leaflet.css"] {
                #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data()))
            }
            #expect(try await findings(["MSI_LEAFLET_DIR": folder]).map(\.level) == [.ok, .ok])
        }
    }

    @Test("A server of maps learns where people look, and whoever has made the maps is named on them")
    func tiles() async throws {
        let address = "https://tile.example.edu/{z}/{x}/{y}.png"
        let unnamed = try await findings(["MSI_MAP_TILES": address])
        #expect(unnamed.count == 2 && unnamed.last?.level == .warning, "\(unnamed)")
        #expect(unnamed.last?.found.contains("from tile.example.edu, which learns") == true)
        let named = try await findings(["MSI_MAP_TILES": address, "MSI_MAP_ATTRIBUTION": "© somebody"])
        #expect(named.count == 2 && named.last?.level == .ok, "\(named)")
    }

    @Test(
        "A plan is GeoJSON with places on the earth",
        arguments: [
            (#"{"type":"FeatureCollection","features":[{"geometry":{"type":"Point","coordinates":[-0.1246,51.5007,12]}}]}"#, nil),
            (
                #"{"type":"FeatureCollection","features":[{"geometry":null},{"geometry":{"type":"GeometryCollection","#
                    + #""geometries":[{"type":"Polygon","coordinates":[[[1,2],[3,2],[3,4],[1,2]]]}]}}]}"#, nil
            ),
            (#"{"type":"FeatureCollection","features":[]}"#, "it has no places"),
            (#"{"type":"Topology","features":[]}"#, "it is no FeatureCollection"),
            (#"{"type":"FeatureCollection","features":[{"geometry":{"coordinates":[51,181]}}]}"#, "a position is not"),
            (#"{"type":"FeatureCollection","features":[{"geometry":{"coordinates":[[1]]}}]}"#, "a position is not"),
            (#"{"type":"FeatureCollection","features":[{"geometry":{"coordinates":"here"}}]}"#, "coordinates are no arrays"),
            ("{", "it is no JSON"),
        ] as [(String, String?)])
    func plan(text: String, problem: String?) async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/campus.json"
            try Data(text.utf8).write(to: URL(filePath: file))
            let finding = StudyCheck.finding(aboutPlanIn: file)
            #expect(finding.level == (problem == nil ? .ok : .failure), "\(finding)")
            if let problem { #expect(finding.found.contains(problem), "\(finding)") }
            #expect(StudyCheck.finding(aboutPlanIn: folder + "/none").found.hasSuffix("it cannot be read by this user"))
        }
    }

    @Test("The box of a plan is around everything in it")
    func box() throws {
        let text =
            #"{"type":"FeatureCollection","features":[{"geometry":{"coordinates":[[1,2],[-3.5,8]]}},"#
            + #"{"geometry":{"coordinates":[0,9]}}]}"#
        let box = try PlanBox(geoJSON: Array(text.utf8))
        #expect(box.west == -3.5 && box.east == 1 && box.south == 2 && box.north == 9)
    }
}
