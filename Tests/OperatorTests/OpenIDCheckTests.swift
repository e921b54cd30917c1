import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// What `msi doctor` says about the OpenID Connect provider.
@Suite("Provider in msi doctor")
struct OpenIDCheckTests {
    @Test("The right issuer is ok, another one is named with that of the settings, and one that does not answer is a failure")
    func issuers() async throws {
        func finding(_ issuer: String?) async throws -> Finding? {
            let settings = try await SettingValues(
                arguments: [], environment: issuer.map { ["MSI_OIDC_ISSUER": $0] } ?? [:], accepted: [])
            return try await OpenIDCheck(settings: settings).findings().first
        }
        #expect(try await finding(nil) == nil)
        try await OpenIDTestProvider.with { provider in
            #expect(try await finding(provider.issuer)?.level == .ok)
            let wrong = try await finding(provider.issuer + "/")
            #expect(wrong?.level == .failure && wrong?.found.contains("MSI_OIDC_ISSUER is \(provider.issuer)/, and") == true)
            #expect(wrong?.found.hasSuffix("says \(provider.issuer)") == true)
        }
        #expect(try await finding("http://127.0.0.1:1")?.found.hasSuffix("does not answer") == true)
    }
}
