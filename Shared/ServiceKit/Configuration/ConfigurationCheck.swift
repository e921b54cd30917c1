import Logging

/// `--check-config`: finds what would stop a service at its start.
struct ConfigurationCheck {
    /// The service's executable.
    let name: String
    /// The settings of the service.
    let settings: [SettingDeclaration]
    /// Checks what the form of single settings does not show.
    ///
    /// - Returns: One sentence for each problem.
    let further: @Sendable (Wiring) async throws -> [String]

    /// - Returns: One sentence for each problem. What depends on several settings is checked only if each has the right form.
    func problems(in values: SettingValues) async -> [String] {
        let problems = values.problems(of: settings)
        guard problems.isEmpty else { return problems }
        do {
            return try await further(Wiring(settings: values, logger: .service(name, format: .text, level: .warning)))
        } catch {
            return ["\(error)"]
        }
    }
}
