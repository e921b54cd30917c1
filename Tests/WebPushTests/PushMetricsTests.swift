import Testing

@testable import WebPush

/// How metrics name push services.
@Suite("Names of push services in metrics")
struct PushMetricsTests {
    @Test("A known host keeps its name, the hosts of a domain share one, and every other one is the same")
    func labels() throws {
        let labels = try PushHosts(
            operators: ["push.example.edu:8443", ".example.org", "http://127.0.0.1:9000"]
        ).labels
        #expect(
            labels.all == [
                "127.0.0.1:9000", "example.org", "fcm.googleapis.com", "notify.windows.com", "push.apple.com",
                "push.example.edu:8443",
                "updates.push.services.mozilla.com",
            ])
        for (host, label) in [
            ("fcm.googleapis.com", "fcm.googleapis.com"), ("web.push.apple.com", "push.apple.com"),
            ("wns2-by3p.notify.windows.com", "notify.windows.com"), ("a.b.example.org", "example.org"),
            ("push.example.edu:8443", "push.example.edu:8443"), ("push.example.edu", "other"),
            ("127.0.0.1:9000", "127.0.0.1:9000"),
            ("notpush.apple.com", "other"), ("evil.test", "other"),
        ] {
            #expect(labels.label(of: host) == label)
        }
    }
}
