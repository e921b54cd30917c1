import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Operator

/// Whose backups are restored.
@Suite("Trust in backups", .enabled(if: geteuid() == 0, "needs a superuser for files of others"))
struct BackupTrustTests {
    @Test(
        "A backup of another user, or one that others can write to, is refused",
        arguments: [
            (0, 0o700, nil), (0, 0o755, nil), (65_000, 0o700, "belongs to the user 65000"), (0, 0o777, "mode 777"),
            (0, 0o1777, "mode 1777"), (0, 0o770, "mode 770"),
        ] as [(uid_t, mode_t, String?)])
    func folders(owner: uid_t, mode: mode_t, problem: String?) async throws {
        try await withTemporaryFolder { folder in
            let backup = folder + "/backup"
            for path in [backup, backup + "/manifest.json"] {
                try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: true)
                try Data().write(to: URL(filePath: backup + "/manifest.json"))
                #expect(chown(path, owner, 0) == 0 && chmod(path, mode) == 0)
                let failure = Result { try BackupTrust.check(folder: backup) }
                switch (failure, problem) {
                case (.success, nil): break
                case (.failure(let failure), let problem?):
                    #expect("\(failure)".hasPrefix("\(path) ") && "\(failure)".contains(problem), "\(failure)")
                    #expect("\(failure)".contains("--trust"))
                default: Issue.record("\(failure)")
                }
                try FileManager.default.removeItem(atPath: backup)
            }
        }
    }

    @Test("A backup warns of a place where others could replace it; /tmp is none")
    func places() async throws {
        try await withTemporaryFolder { folder in
            for (mode, isOpen) in [(0o700, false), (0o1777, false), (0o777, true), (0o775, true)] as [(mode_t, Bool)] {
                #expect(chmod(folder, mode) == 0)
                #expect((BackupTrust.warning(aboutPlaceOf: folder + "/backup") != nil) == isOpen, "\(String(mode, radix: 8))")
            }
            #expect(chown(folder, 65_000, 0) == 0 && chmod(folder, 0o700) == 0)
            #expect(BackupTrust.warning(aboutPlaceOf: folder + "/backup")?.contains("65000") == true)
        }
    }
}
