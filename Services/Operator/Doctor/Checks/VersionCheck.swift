import ProductVersion

/// Whether all services, and this command, are of one version.
struct VersionCheck: Sendable {
    /// By the services' names and endpoints. Empty if none has answered.
    let versions: [String: String]
    let installation: Installation

    var findings: [Finding] {
        guard !versions.isEmpty else { return [] }
        let others = versions.filter { $0.value != productVersion }.map { "\($0.key) is \($0.value)" }.sorted()
        guard !others.isEmpty else { return [.ok(.versions, "all services are of version \(productVersion)")] }
        return [
            .warning(
                .versions, "this command is of version \(productVersion), but \(others.joined(separator: ", "))",
                installation.layout == .packages
                    ? "finish the upgrade: apt install all packages of one version" : "restart deploy/run")
        ]
    }
}
