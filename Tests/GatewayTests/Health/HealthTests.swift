import Schemas
import Testing
import Base

@testable import Gateway

/// What `GET /health` concludes from the answers of the services.
@Suite("Health")
struct HealthTests {
    private func health(
        _ messageLog: PartHealth, copies: [String: UnixMilliseconds] = [:], gateway: String = "0.13.0"
    ) -> Health {
        Health(
            ["cube": PartHealth(.ok, version: gateway), "message-log": messageLog], own: PartHealth(.ok, version: gateway),
            copies: copies)
    }

    @Test(
        "A service that is older than the gateway is named, with what to do; a newer one does no harm",
        arguments: [
            ("0.13.0", nil, Health.Status.ok), ("0.12.9", "upgrade this service", .degraded),
            ("0.9.0", "upgrade this service", .degraded),
            ("0.13.1", "upgrade the gateway", .ok), ("0.14.0", "upgrade the gateway", .ok), ("1.0", "upgrade the gateway", .ok),
        ])
    func versions(version: String, advice: String?, status: Health.Status) throws {
        let health = health(PartHealth(.ok, version: version))
        #expect(health.status == status && health.versions["message-log"] == version)
        let report = health.parts["message-log"]?["version"]
        #expect((report?.message != nil) == (advice != nil) && health.parts["cube"] == nil)
        if let advice { #expect(report?.message?.contains(advice) == true && report?.version == version) }
    }

    @Test("A report of a service's dependencies stays beside the one of its version")
    func parts() {
        let relay = PartHealth(.unavailable, "no relay is there")
        let health = health(PartHealth(.ok, version: "0.12.0", parts: ["relay": relay]))
        #expect(
            health.parts["message-log"]?.keys.sorted() == ["relay", "version"] && health.parts["message-log"]?["relay"] == relay)
    }

    @Test("A message log that stores nothing new is unavailable; one that is nearly full, or without its templates, is degraded")
    func store() {
        let full = PartHealth(.storageFull, "the disk is full")
        let states = [["store": full, "storage": full], ["storage": full], ["templates": full], [:]].map { parts in
            health(PartHealth(ServiceHealth(version: "0.13.0", parts: parts)))
        }
        #expect(states.map(\.status) == [.unavailable, .degraded, .degraded, .ok])
        #expect(states.map { $0.services["message-log"] } == [.storageFull, .ok, .ok, .ok])
    }

    @Test("The moving end of a grace period is no change of the state; its beginning is")
    func copies() {
        let away = PartHealth(.unavailable, "it is away")
        let first = health(away, copies: ["message-log": 1_000_000])
        #expect(first.hasSameStates(as: health(away, copies: ["message-log": 1_001_000])))
        #expect(!first.hasSameStates(as: health(away)))
        #expect(!first.hasSameStates(as: health(PartHealth(.ok))))
    }
}
