; The set-up program for Windows, made by makensis; package.py gives OUT, FOLDER, VERSION and SIZE (KiB).
; It installs for one user, without an administrator, and removes nothing but what it installed.
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\DPDesk"
Unicode true
SetCompressor /SOLID lzma
Name "DPDesk"
OutFile "${OUT}"
Icon "${FOLDER}/dpdesk.ico"
UninstallIcon "${FOLDER}/dpdesk.ico"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\DPDesk"
InstallDirRegKey HKCU "Software\DPDesk" "Folder"
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "DPDesk"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Statistical disclosure control"
VIAddVersionKey "LegalCopyright" ""
LoadLanguageFile "${NSISDIR}\Contrib\Language files\English.nlf"
LoadLanguageFile "${NSISDIR}\Contrib\Language files\German.nlf"
LangString PROJECT 1033 "DPDesk project"
LangString PROJECT 1031 "DPDesk-Projekt"
LangString RUNNING 1033 "DPDesk is running or a file of it is open. Close it, then try again."
LangString RUNNING 1031 "DPDesk läuft, oder eine seiner Dateien ist geöffnet. Schließen Sie es und versuchen Sie es noch einmal."
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles

Section
  ; The files of an earlier version go first, so that none of them is left among the new ones.
  IfFileExists "$INSTDIR\dpdesk.cmd" 0 fresh
  ClearErrors
  RMDir /r "$INSTDIR\runtime"
  IfErrors 0 fresh
  MessageBox MB_OK|MB_ICONSTOP "$(RUNNING)" /SD IDOK
  Abort
  fresh:
  SetOutPath "$INSTDIR"
  File /r "${FOLDER}/*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKCU "Software\DPDesk" "Folder" "$INSTDIR"
  CreateShortcut "$SMPROGRAMS\DPDesk.lnk" "$INSTDIR\runtime\pythonw.exe" "-I -m dpdesk" "$INSTDIR\dpdesk.ico"
  WriteRegStr HKCU "Software\Classes\.dpdesk" "" "DPDesk.Project"
  WriteRegStr HKCU "Software\Classes\DPDesk.Project" "" "$(PROJECT)"
  WriteRegStr HKCU "Software\Classes\DPDesk.Project\DefaultIcon" "" "$INSTDIR\dpdesk.ico"
  WriteRegStr HKCU "Software\Classes\DPDesk.Project\shell\open\command" "" '"$INSTDIR\runtime\pythonw.exe" -I -m dpdesk open "%1"'
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "DPDesk"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\dpdesk.ico"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" ${SIZE}
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, i 0, i 0)'
SectionEnd

Section "Uninstall"
  ; Only what was installed: projects, ledgers and keys of the user are elsewhere and stay.
  RMDir /r "$INSTDIR\runtime"
  Delete "$INSTDIR\dpdesk.cmd"
  Delete "$INSTDIR\dpdesk.ico"
  Delete "$INSTDIR\sbom.json"
  Delete "$INSTDIR\SHA256SUMS"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\DPDesk.lnk"
  DeleteRegKey HKCU "Software\Classes\.dpdesk"
  DeleteRegKey HKCU "Software\Classes\DPDesk.Project"
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\DPDesk"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, i 0, i 0)'
SectionEnd
