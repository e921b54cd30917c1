import Base
import HTTPTypes
import TestSupport
import Testing

@testable import Gateway
@testable import ServiceKit

@Suite("GET /storage and GET /calls", .timeLimit(.minutes(10)))
struct StorageRouteTests {
    @Test("The report has the stores of all services, and names those that are away")
    func stores() async throws {
        try await RunningGateway.with { gateway in
            let running = Set(ServiceEntry.gateway.startDependencies.filter(\.keepsData).map(\.name))
            let all = Set(ServiceEntry.behindGateway.filter(\.keepsData).map(\.name))
            // A service measures its store when it has started.
            let report = try await eventually("the stores of all") {
                let answer = try await gateway.request("GET", "/storage")
                #expect(answer.status == 200, "\(answer)")
                let report = try answer.json
                let measured = (report["stores"]?.array ?? []).filter { ($0["bytes"]?.integer ?? 0) > 0 }
                return running.isSubset(of: measured.compactMap { $0["name"]?.string }) ? report : nil
            }
            for store in report["stores"]?.array ?? [] {
                #expect((0...100).contains(store["percent"]?.integer ?? -1), "\(store)")
            }
            let away = (report["away"]?.array ?? []).compactMap(\.string)
            #expect(Set(away) == all.subtracting(running) && away.count == Set(away).count, "\(away)")
            let calls = try await gateway.request("GET", "/calls")
            #expect(calls.status == 503 && calls.problem == "service-unavailable", "\(calls)")
        }
    }

    @Test("They are for administrators alone, whatever part of the cube a token is for")
    func rights() async throws {
        try await RunningGateway.with(services: ["msi-people"]) { gateway in
            let (ann, root) = (try await gateway.newSession("ann"), try await gateway.newSession("root", "super_user"))
            try await root.confirm()
            let scoped = try await root.makeToken(["administer"], #""scope":["6b0187feff0dafac2833f431"]"#)
            let person = try await gateway.student("student")
            for target in ["/storage", "/calls"] {
                #expect(try await root.request("GET", target).status != 403, "\(target)")
                #expect(try await ann.request("GET", target).status == 403, "\(target)")
                #expect(try await gateway.with(token: scoped).request("GET", target).status == 403, "\(target)")
                #expect(try await person.request("GET", target).status == 403, "\(target)")
                #expect(try await gateway.with(token: nil).request("GET", target).status == 401, "\(target)")
            }
        }
    }
}
